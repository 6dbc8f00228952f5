/** A turned piece between the two centres of a lathe. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a52be"/><path d="M4 16h4m16 0h4M8 11v10h3c1-4 3-4 5 0s4 4 5 0h3V11h-3c-1 4-3 4-5 0s-4-4-5 0z" fill="#fff" stroke="#fff" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>`
