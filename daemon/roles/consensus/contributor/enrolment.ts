// Finds who is enrolled for a tenant: read from the store each time, so that all processes agree at once.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { settings } from '../settings.ts'
import { type Contributor, contributors, type StoredContributor } from './model.ts'

/** Contributors of a tenant that operations have changed: a policy names a thousand at most. */
export const max_changed_contributors = 1_000

export function contributorId(call: Call, name: string): string {
  return `ctr_${canonicalDigest([call.caller.tenant_id, name]).slice(0, 32)}`
}

/** The contributor as the caller's tenant has it; undefined when it is not enrolled there. */
export async function findContributor(call: Call, name: string): Promise<Contributor | undefined> {
  const changed = await call.store(contributors).find(contributorId(call, name))
  return changed ? showChanged(changed.value) : seedOf(call, name)
}

/** Everybody who is enrolled for the caller's tenant, by name. */
export async function listContributors(call: Call): Promise<Contributor[]> {
  const changed = await listChanged(call)
  const byName = new Map(changed.map(({ value }) => [value.name, value]))
  const seeds = Object.keys(call.settings(settings).contributors).flatMap((name) =>
    byName.has(name) ? [] : (seedOf(call, name) ?? []),
  )
  const all = [...seeds, ...changed.flatMap(({ value }) => showChanged(value) ?? [])]
  return all.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function listChanged(call: Call): Promise<Doc<StoredContributor>[]> {
  const changed: Doc<StoredContributor>[] = []
  let cursor: string | undefined
  do {
    const page = await call.store(contributors).list({ limit: 500, fresh: true, ...(cursor ? { cursor } : {}) })
    changed.push(...page.docs)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return changed
}

function seedOf(call: Call, name: string): Contributor | undefined {
  const enrolled = call.settings(settings).contributors
  const seed = Object.hasOwn(enrolled, name) ? enrolled[name] : undefined
  if (!seed || (seed.tenant_id !== undefined && seed.tenant_id !== call.caller.tenant_id)) return undefined
  return { name, signer_keys: seed.signer_keys, spoken_for_by: seed.spoken_for_by, origin: 'profile' }
}

function showChanged({ tenant_id: _tenant, removed, ...changed }: StoredContributor): Contributor | undefined {
  return removed ? undefined : { ...changed, origin: 'operation' }
}
