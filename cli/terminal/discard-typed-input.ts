// Discards what was typed before a question was on the screen, so that it does not count as its answer.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadStream } from 'node:tty'

/**
 * Discards the input that waits on a terminal; does nothing for other input. Raw mode makes a line without an end readable.
 * In a whole turn of the event loop everything that waits is read: the first turn may be past its reads already.
 */
export async function discardTypedInput(stdin: ReadStream = process.stdin): Promise<void> {
  if (!stdin.isTTY) return
  const ignore = () => undefined
  stdin.setRawMode(true)
  stdin.on('data', ignore)
  await nextTurn()
  await nextTurn()
  stdin.off('data', ignore)
  stdin.pause()
  // Node stops reading one tick later, and would stop the next reader if it began before.
  await nextTurn()
  stdin.setRawMode(false)
}
