// Which role answers at a URL: all roles tell it at the same path.
import type { Answered } from './client.ts'

/** `ask` reaches the one listener that is known. Throws as it throws. */
export async function roleBehind(ask: (address: string, input: Answered) => Promise<Answered>): Promise<string> {
  const { name } = await ask('site.service.info', {})
  return String(name).replace(/-service$/, '')
}
