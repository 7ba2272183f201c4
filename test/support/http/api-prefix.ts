// Where what every role serves is served, besides its root.
import { roles } from '../../../daemon/roles.ts'

export function apiPrefix(role: string): string {
  return roles.find(({ name }) => name === role)?.api_prefix ?? ''
}
