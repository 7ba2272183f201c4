// A bar for work whose end is known: how much of it is done, and how much there is.

const width = 24

/** `[######..................]` */
export function bar(done: number, all: number): string {
  const filled = all === 0 ? width : Math.floor((done / all) * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`
}

/** `[######..................] 25 of 100 messages` */
export function progressLine(done: number, all: number, what: string): string {
  return `${bar(done, all)} ${done} of ${all} ${what}`
}
