// Bulk dispositions that a test holds back, so that their job begins when the test is ready.
import type { StoredPrincipal } from '../../../daemon/kernel/identity/delegation.ts'
import { newJob, wakeJob } from '../../../daemon/kernel/job/rules.ts'
import { create } from '../../../daemon/roles/intelligence/bulk/create.ts'
import { get } from '../../../daemon/roles/intelligence/bulk/get.ts'
import { bulks, type StoredBulk } from '../../../daemon/roles/intelligence/bulk/model.ts'
import { accept } from '../../support/delegation/delegation-answers.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'

/** The bulk disposition once it is over. */
export function waitUntilOver(person: CheckedClient, uid: string) {
  return waitUntil(async () => {
    const bulk = await person.ok(get, { uid })
    return ['finished', 'cancelled'].includes(bulk.state) && bulk
  })
}

export async function readBulk(site: TestSite, uid: string): Promise<StoredBulk> {
  const doc = await site.store('intelligence').get(bulks, uid)
  if (!doc) throw new Error(`there is no bulk disposition ${uid}`)
  return doc.value
}

/** As the person created it, of signals that nothing has been done to. */
export async function holdBulk(
  site: TestSite,
  person: CheckedClient,
  signal_ids: readonly string[],
  more: Partial<StoredBulk> = {},
): Promise<string> {
  const { uid } = await person.ok(create, {
    signal_ids: ['sig_none'],
    disposition: 'dismissed',
    rationale: 'a storm',
  })
  await waitUntilOver(person, uid)
  const items = signal_ids.map((signal_id) => ({ signal_id }))
  const id = `${uid.slice(0, -4)}cut0`
  const value = hold({ ...(await readBulk(site, uid)), items, ...more }, await storePrincipal(site, person, id))
  await site.store('intelligence').create(bulks, id, value)
  return id
}

async function storePrincipal(site: TestSite, { token }: CheckedClient, id: string): Promise<StoredPrincipal> {
  const acting = site.delegation('intelligence', { subject_token: token })
  return accept(await acting.store({ collection: bulks.name, id }))
}

/** As it was before the outcomes of its signals were stored: a process died in between. */
export async function rewindBulk(
  site: TestSite,
  person: CheckedClient,
  uid: string,
  more: Partial<StoredBulk> = {},
): Promise<void> {
  const principal = await storePrincipal(site, person, uid)
  await site.store('intelligence').update(bulks, uid, ({ value }) => {
    const items = value.items.map(({ signal_id }) => ({ signal_id }))
    return { next: hold({ ...value, items, ...more }, principal), answer: undefined }
  })
}

function hold({ finished_at: _over, ...value }: StoredBulk, principal: StoredPrincipal): StoredBulk {
  const state = value.state === 'finished' ? 'running' : value.state
  return { ...value, state, ...newJob(state === 'running' ? principal : undefined, undefined) }
}

/** Lets its job begin. */
export async function releaseBulk(site: TestSite, uid: string): Promise<void> {
  await site
    .store('intelligence')
    .update(bulks, uid, ({ value }) => ({ next: wakeJob(value, site.clock.now()), answer: undefined }))
  site.wakeWorker('intelligence', 'jobs')
}
