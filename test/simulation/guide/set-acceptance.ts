// An accepted set in a store without a site, and several parties that make its artifacts active at once, some of which crash.
import { canonicalJson, sha256, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { acceptAll } from '../../../daemon/roles/gateway/guide/set/accept-sets.ts'
import {
  guidanceSets,
  type StoredSet,
  setArtifactId,
  setArtifacts,
} from '../../../daemon/roles/gateway/guide/set/model.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import { seededRandom } from '../../support/random/seeded-random.ts'
import { failingStore } from './lifecycle-world.ts'

const made_at = '2026-03-02T11:00:00.000Z'
const now = Date.parse('2026-03-02T12:00:00Z')
const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'bravo', releasable_to: ['alpha'] }
const set_id = `set_${'1'.repeat(32)}`
const fields = {
  ...{ tenant_id: 'alpha', label, create_ts: now, update_ts: now, schema_version: 1 as const },
  uds: { timestamp: now, username: 'ian', visibility: 'label' as const },
}

/** Signatures are verified at the approval; what follows reads the payloads. */
const wrap = (content: object) => ({
  payload: Buffer.from(canonicalJson(content)).toString('base64url'),
  signatures: [{ protected: 'e30', signature: 'AA' }],
})

function carry(number: number) {
  const body = `text ${number}`
  return canonicalJson({
    ...{ artifact_id: `artifact_${sha256(body).slice(0, 32)}`, type: 'PromptShim', version: 3, as_of: made_at, label },
    ...{ applicability: { tags: [] }, content: { body }, rationale: 'seen at bravo' },
  })
}

async function storeAccepted(store: Store, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, at) => carry(at))
  const signed = wrap({
    ...{ v: 1, type: 'platform.guidance-set', from: 'bravo', tenant_id: 'bravo', to: 'alpha', made_at, label },
    artifacts: texts.map(sha256),
  })
  const digest = sha384(Buffer.from(signed.payload, 'base64url'))
  const decision = {
    ...{ v: 1, type: 'platform.guidance-acceptance', site: 'alpha', tenant_id: 'alpha', set: set_id, digest },
    ...{ artifacts: texts.map((_, at) => at + 1), reason: 'proven', created: made_at },
  }
  const request = { ...decision, step: 'request', subject: 'ann' }
  const approval = { ...decision, step: 'approval', subject: 'bob', request: sha384(canonicalJson(request)) }
  const stored = (content: object) => ({ signature: wrap(content), digest, fingerprint: 'f' })
  for (const [at, carried] of texts.entries()) {
    const value = { ...fields, set_id, number: at + 1, carried, expires_ts: now * 2 }
    await store.create(setArtifacts, setArtifactId(set_id, at + 1), value)
  }
  const set: StoredSet = {
    ...{ ...fields, status: 'accepting', peer: 'bravo', origin_tenant_id: 'bravo', digest, made_at, signed },
    ...{
      artifact_count: count,
      importer: 'ian',
      accepted_ts: now,
      request: stored(request),
      approval: stored(approval),
    },
  }
  await store.create(guidanceSets, set_id, set)
}

/** Artifacts by status and version, and outcomes, once runs of parties that crash and race have ended. */
export async function raceAcceptance(store: Store, count: number) {
  await storeAccepted(store, count)
  const random = seededRandom(7)
  const callOf = (at: Store) => createGuideCall({ store: at, now: () => now, random: () => '0'.repeat(32) })
  for (let round = 0; round < 12; round += 1) {
    const runs = [0.05, 0.1].map((failing) => acceptAll(callOf(failingStore(store, random, failing))))
    await Promise.allSettled(runs)
  }
  await Promise.all([acceptAll(callOf(store)), acceptAll(callOf(store)), acceptAll(callOf(store))])
  const active = (await store.list(artifacts, { limit: 500, fresh: true })).docs
  const items = (await store.list(setArtifacts, { limit: 500, fresh: true })).docs
  return {
    status: (await store.get(guidanceSets, set_id))?.value.status,
    artifacts: active.map(({ value: { status, version, content } }) => `${status} ${version} ${content.weight ?? ''}`),
    outcomes: items.map(({ value: { outcome } }) => outcome),
  }
}
