// Progress bar for work with a known total.

const bar_width_chars = 24

/** `[######..................]` */
export function formatBar(completed: number, total: number): string {
  const filled = total === 0 ? bar_width_chars : Math.floor((completed / total) * bar_width_chars)
  return `[${'#'.repeat(filled)}${'.'.repeat(bar_width_chars - filled)}]`
}

/** `[######..................] 25 of 100 messages` */
export function formatProgress(completed: number, total: number, unit: string): string {
  return `${formatBar(completed, total)} ${completed} of ${total} ${unit}`
}
