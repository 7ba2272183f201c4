// The newest signed checkpoint of each audit chain of the site, which inventories carry to peers.
import type { Site } from '../../kernel/role/site.ts'
import type { Store } from '../../kernel/store/store.ts'
import { checkpoints } from '../../roles/site/checkpoint/model.ts'
import { roles } from '../../roles.ts'
import { auditWriterName } from '../storage/role-storage.ts'

export function newestCheckpoints(store: Store, { name, tenant_id }: Pick<Site, 'name' | 'tenant_id'>) {
  return async () => {
    const pages = roles.map(({ name: role }) =>
      store.list(checkpoints, {
        filter: { tenant_id, writer: auditWriterName(role, name) },
        // Ids end with the number, so the index finds the newest checkpoint of a writer without a search.
        order: { field: 'writer', direction: 'desc' },
        limit: 1,
      }),
    )
    return (await Promise.all(pages)).flatMap(({ docs }) =>
      docs.map(({ value: { tenant_id: _tenant, ...head } }) => head),
    )
  }
}
