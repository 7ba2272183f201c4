// Which role answers at a URL: all roles tell it at the same path.
import type { ApiObject } from './client.ts'

/** `ask` reaches the one listener that is known. Throws as it throws. */
export async function identifyRole(ask: (address: string, input: ApiObject) => Promise<ApiObject>): Promise<string> {
  const { name } = await ask('site.service.info', {})
  return String(name).replace(/-service$/, '')
}
