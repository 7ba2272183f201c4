// Prefix under which a role serves health, service-info and metrics besides the root.
import { roles } from '../../../daemon/roles.ts'

export function apiPrefix(role: string): string {
  return roles.find(({ name }) => name === role)?.api_prefix ?? ''
}
