// Three real sites over folders decide one session: the copy at each follows evidence whose proofs are the files that travelled.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { verifyEvidence } from '../../../daemon/offline/evidence/evidence-file.ts'
import { list as listEmissions } from '../../../daemon/roles/consensus/emission/list.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import { pinPeerKeys } from '../../support/site/pinned-site-pair.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildOpinionInput, buildSessionInput, createOperator, waitUntilDelivered } from './consensus-site.ts'

const sites: TestSite[] = []
beforeAll(async () => {
  const clock = simulatedClock()
  for (const name of ['alpha', 'bravo', 'charlie']) {
    const contributors = { c1: { signer_keys: ['c1-1'], spoken_for_by: ['olga'] } }
    const sinks = name === 'alpha' ? [{ name: 'to-bravo', kind: 'filedrop', peer: 'bravo' }] : []
    sites.push(
      await createTestSite({ name, tenant: `tenant-${name}`, clock, profile: { consensus: { contributors, sinks } } }),
    )
  }
  for (const site of sites) for (const peer of sites) if (site !== peer) await pinPeerKeys(site, peer)
  await Promise.all(sites.map((site) => site.start()))
})
afterAll(async () => {
  await Promise.all(sites.map((site) => site.end()))
  expect(sites.flatMap(({ loggedErrors }) => loggedErrors)).toEqual([])
})

/** Copies everything that is ready between all sites, as carriers do. */
function carryAll(): void {
  for (const from of sites) {
    for (const to of sites) {
      if (from === to) continue
      const { ready } = foldersOf(from.folder.filedrop, to.name)
      const { fresh } = foldersOf(to.folder.filedrop, from.name)
      for (const file of fs.readdirSync(ready).sort()) {
        fs.copyFileSync(join(ready, file), join(fresh, `.${file}`))
        fs.renameSync(join(fresh, `.${file}`), join(fresh, file))
        fs.rmSync(join(ready, file))
      }
    }
  }
}

async function waitForState(site: TestSite, id: string, state: string) {
  const person = await createOperator(site)
  return await waitUntil(async () => {
    carryAll()
    const { value } = await person.call(get, { id })
    return value?.state === state && value
  })
}

test('each copy follows proven evidence, and a reader with the keys of all sites sees who vouches', async () => {
  const [alpha, bravo, charlie] = sites as [TestSite, TestSite, TestSite]
  const classification = { level: 'UNCLASSIFIED', releasable_to: sites.map(({ tenant }) => tenant) }
  const person = await createOperator(alpha)
  const input = { ...buildSessionInput({ m: 3, n: 3 }), classification, invite: ['bravo', 'charlie'] }
  const { id } = await person.ok(create, input)
  for (const follower of [bravo, charlie]) {
    await waitForState(follower, id, 'PROPOSED')
    const opinion = { id, ...buildOpinionInput('c1', 0.9), classification }
    await (await createOperator(follower)).ok(contribute, opinion)
  }
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 1), classification })
  const home = await waitForState(alpha, id, 'RATIFIED')
  for (const follower of [bravo, charlie]) {
    const copy = await waitForState(follower, id, 'RATIFIED')
    expect(copy).toMatchObject({ decision: 'match', result: home.result })
    expect(copy.invalid_results).toBeUndefined()
    const block = await (await createOperator(follower)).ok(evidenceOf, { block_id: copy.evidence_block_id ?? '' })
    const trusted = sites.map(({ name, folder }) => ({ name, keys: listKeys(folder.keys) }))
    expect(await verifyEvidence(JSON.stringify(block), trusted)).toMatchObject({
      verdict: 'valid',
      version: 2,
      chain: 'checked',
      contributions: [
        { contributor_id: 'tenant-bravo', vouched_by: 'signer', signer: 'bravo' },
        { contributor_id: 'tenant-charlie', vouched_by: 'signer', signer: 'charlie' },
        { contributor_id: 'c1', vouched_by: 'origin' },
      ],
    })
    const { token } = await follower.as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
    const path = `/api/v2/audit?target=${id}&action=consensus.federation.result`
    const { json } = await follower.call('consensus', 'GET', path, undefined, { token })
    const [record] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item))
    expect(record?.event).toMatchObject({ detail: { peer: 'alpha', evidence_v: 2, proven: 2, vouched_by_origin: 1 } })
  }
})

test('evidence of a session that supersedes another names its block, and those that the messages rest on', async () => {
  const [alpha, bravo] = sites as [TestSite, TestSite]
  const [here, there] = [await createOperator(alpha), await createOperator(bravo)]
  const classification = { level: 'UNCLASSIFIED', releasable_to: sites.map(({ tenant }) => tenant) }
  const opinion = { ...buildOpinionInput('c1', 0.9), classification }
  const decideAlone = async (site: TestSite) => {
    const person = await createOperator(site)
    const { id } = await person.ok(create, { ...buildSessionInput({ m: 1, n: 1 }), classification })
    await person.ok(contribute, { id, ...opinion })
    return await waitUntilDelivered(person, id)
  }
  const [first, basis] = [await decideAlone(alpha), await decideAlone(bravo)]
  const [superseded, based] = [first.evidence_block_id ?? '', basis.evidence_block_id ?? '']
  const input = { ...buildSessionInput({ m: 2, n: 2 }), classification, invite: ['bravo'], supersedes: first.id }
  const { id } = await here.ok(create, input)
  await waitForState(bravo, id, 'PROPOSED')
  await there.ok(contribute, { id, ...opinion, parent_block_ids: [based] })
  await here.ok(contribute, { id, ...opinion })
  const copy = await waitForState(bravo, id, 'RATIFIED')
  const block = await there.ok(evidenceOf, { block_id: copy.evidence_block_id ?? '' })
  expect(block.content).toMatchObject({
    v: 3,
    lineage: [{ relation: 'supersedes', block_id: superseded }],
    parent_block_ids: [superseded, based].sort(),
  })
  const trusted = [alpha, bravo].map(({ name, folder }) => ({ name, keys: listKeys(folder.keys) }))
  expect(await verifyEvidence(JSON.stringify(block), trusted)).toMatchObject({ verdict: 'valid', version: 3 })
  const { items } = await waitUntil(async () => {
    carryAll()
    const page = await there.ok(listEmissions, { session_id: id })
    return page.items.length > 0 && page
  })
  expect(items.map(({ federation }) => federation.parent_block_ids)).toEqual([[block.block_id]])
})
