// The id of a set at a tenant: the same set is the same document, however often it is imported.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'

export function setIdOf(tenant_id: string, digest: string): string {
  return `set_${sha256(JSON.stringify([tenant_id, digest])).slice(0, 32)}`
}
