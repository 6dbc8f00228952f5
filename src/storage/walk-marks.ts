/** Where walks through many tasks, a few at a time, are; `""` at the beginning. */
export function openWalkMarks(sql: SqlStorage) {
  sql.exec("create table if not exists walk_marks (walk text primary key, at text not null)")
  function walkMark(walk: string): string {
    const rows = sql.exec<{ at: string }>("select at from walk_marks where walk = ?", walk)
    return rows.toArray()[0]?.at ?? ""
  }
  return {
    walkMark,
    /** Writes nothing where the walk is still there. */
    saveWalkMark(walk: string, at: string): void {
      if (walkMark(walk) === at) return
      sql.exec("insert or replace into walk_marks (walk, at) values (?, ?)", walk, at)
    },
  }
}
