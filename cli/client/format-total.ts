// Formats how many objects a list has.
import type { DocumentTotal } from '../../daemon/kernel/store/store.ts'

export function formatTotal({ total, total_is }: DocumentTotal): string {
  return `${total_is === 'at_least' ? 'at least ' : ''}${formatCount(total)}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
