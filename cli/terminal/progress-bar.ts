// A bar for work whose end is known: how much of it is done, and how much there is.

const bar_width_chars = 24

/** `[######..................]` */
export function formatBar(done: number, all: number): string {
  const filled = all === 0 ? bar_width_chars : Math.floor((done / all) * bar_width_chars)
  return `[${'#'.repeat(filled)}${'.'.repeat(bar_width_chars - filled)}]`
}

/** `[######..................] 25 of 100 messages` */
export function formatProgress(done: number, all: number, what: string): string {
  return `${formatBar(done, all)} ${done} of ${all} ${what}`
}
