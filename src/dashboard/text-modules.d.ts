declare module "*.css" {
  const text: string
  export default text
}

declare module "*.min.js" {
  const text: string
  export default text
}
