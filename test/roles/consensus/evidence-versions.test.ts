// The evidence that an origin signs: with the messages of its peers, and without them for peers of the release before.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { verifyEvidence } from '../../../daemon/offline/evidence/evidence-file.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { sessions } from '../../../daemon/roles/consensus/session/model.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildOpinionInput, createOperator, setUpConsensusSite, waitUntilDelivered } from './consensus-site.ts'
import { buildOpinionFields, createCarrier, openInvitedSession } from './federated-session.ts'
import { createPeerSite, sharedClassification } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = setUpConsensusSite(() => ({
  contributors: ['c1'],
  peers: [bravo.pinned, charlie.pinned],
  consensus: { evidence_v1_peers: ['charlie'] },
}))

const openSession = () => openInvitedSession(world(), { m: 3, n: 3 }, ['bravo', 'charlie'])

/** Bravo contributes twice, charlie and a person here once. */
async function contributeAll(id: string): Promise<void> {
  const carrier = await createCarrier(world())
  for (const score of [0.1, 0.9])
    await carrier.ok(federate, await bravo.message('contribution', buildOpinionFields(id, score)))
  await carrier.ok(federate, await charlie.message('contribution', buildOpinionFields(id, 0.95)))
}

const ratify = async (id: string) =>
  (await createOperator(world())).ok(contribute, {
    id,
    ...buildOpinionInput('c1', 1),
    classification: sharedClassification,
  })

async function readBlock(block_id: string): Promise<EvidenceBlock> {
  return await (await createOperator(world())).ok(evidenceOf, { block_id })
}

/** The blocks in the messages to a peer. */
function listSentBlocks(peer: string, session_id: string): EvidenceBlock[] {
  const ready = path.join(world().folder.filedrop, peer, 'out/ready')
  const bodies = fs.readdirSync(ready).filter((name) => name.endsWith('.body.json'))
  return bodies
    .map((name) => JSON.parse(fs.readFileSync(path.join(ready, name), 'utf8')).data)
    .filter((data) => data.session_id === session_id && data.evidence)
    .map(({ evidence }) => evidence)
}

const keysOfAlpha = () => ({ name: undefined, keys: listKeys(world().folder.keys) })

test('a block proves the contributions of peers, and lists what they superseded', async () => {
  const person = await createOperator(world())
  const { id } = await openSession()
  await contributeAll(id)
  await ratify(id)
  const { evidence_block_id = '' } = await waitUntilDelivered(person, id)
  const block = await readBlock(evidence_block_id)
  expect(block.content).toMatchObject({
    v: 2,
    algorithm: 'weighted_average/1',
    record: { superseded: [{ ordinal: 1 }] },
  })
  const trusted = [keysOfAlpha(), { name: 'bravo', keys: bravo.pinned.keys }]
  expect(await verifyEvidence(JSON.stringify(block), trusted)).toMatchObject({
    verdict: 'valid',
    chain: 'checked',
    contributions: [
      { contributor_id: 'tenant-b', vouched_by: 'signer', signer: 'bravo' },
      { contributor_id: 'tenant-c', vouched_by: 'origin', signer: 'charlie' },
      { contributor_id: 'c1', vouched_by: 'origin' },
    ],
  })
  const swapped = [keysOfAlpha(), { name: 'bravo', keys: charlie.pinned.keys }]
  expect((await verifyEvidence(JSON.stringify(block), swapped)).verdict).toBe('invalid')
  const [sent] = await waitUntil(async () => listSentBlocks('bravo', id).length > 0 && listSentBlocks('bravo', id))
  expect(sent).toEqual(block)
})

test('a peer of the release before gets version 1, under an id of its own', async () => {
  const { id } = await openSession()
  await contributeAll(id)
  await ratify(id)
  const { evidence_block_id = '' } = await waitUntilDelivered(await createOperator(world()), id)
  const [sent] = await waitUntil(async () => listSentBlocks('charlie', id).length > 0 && listSentBlocks('charlie', id))
  expect(sent?.content.v).toBe(1)
  expect(sent?.block_id).not.toBe(evidence_block_id)
  expect(await readBlock(sent?.block_id ?? '')).toEqual(sent)
  const verdict = await verifyEvidence(JSON.stringify(sent), [keysOfAlpha()])
  expect([verdict.verdict, verdict.chain]).toEqual(['valid', 'not_listed'])
  expect(verdict.contributions.every(({ vouched_by }) => vouched_by === 'origin')).toBe(true)
})

test('a session with messages of before the update has evidence of version 1', async () => {
  const { id } = await openSession()
  await contributeAll(id)
  await world()
    .store('consensus')
    .update(sessions, id, ({ value }) => ({
      next: { ...value, recent: value.recent.map(({ proof: _proof, ...rest }) => rest) },
      answer: undefined,
    }))
  await world().restart()
  await ratify(id)
  const { evidence_block_id = '' } = await waitUntilDelivered(await createOperator(world()), id)
  expect((await readBlock(evidence_block_id)).content.v).toBe(1)
})

test('a message whose signatures would not fit into the evidence is refused', async () => {
  const { id } = await openSession()
  const parent_block_ids = Array.from({ length: 64 }, (_, at) => at.toString(16).padStart(64, '0'))
  const releasable_to = ['tenant-a', 'tenant-b', ...Array.from({ length: 62 }, (_, at) => `${at}-${'€'.repeat(60)}`)]
  const label = { ...buildOpinionFields(id, 1).classification, releasable_to }
  const fields = { ...buildOpinionFields(id, 0.9), classification: label }
  const message = await bravo.message('contribution', fields, { parent_block_ids, label })
  const carrier = await createCarrier(world())
  expect(await carrier.refusal(federate, message)).toBe('too_large')
})
