// Identifies the role behind a URL: every role reports its name at the same path.
import type { ApiObject } from './client.ts'

/** Name of the role. `call` reaches the listener; its errors pass through. */
export async function identifyRole(call: (address: string, input: ApiObject) => Promise<ApiObject>): Promise<string> {
  const { name } = await call('site.service.info', {})
  return String(name).replace(/-service$/, '')
}
