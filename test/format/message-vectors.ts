// Vectors of messages: a courier’s folder with every kind, announcements of an epoch, and messages that do not hold.

import { join } from 'node:path'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { sha384Hex } from '../../adapters/transport/filedrop/courier/manifest.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { bodyLimits } from '../../daemon/kernel/messaging/body-limits.ts'
import {
  buildSampleMessage,
  keySet,
  policy,
  sampleAcknowledgement,
  sampleBlock,
  sampleCheckpoint,
  sampleDataset,
  sampleDissent,
  sampleSignal,
  session_id,
  subject,
  vectorLabel,
  zeros,
} from './sample-content.ts'
import { buildContent, signBlock } from './sample-evidence.ts'
import { type JsonMembers, type MessageDraft, signContent, signMessage, writeMessage } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'
import { alpha_keys, type Vector, type VectorWriter, writeDocument } from './vector-writer.ts'

const { ed25519, es384, mldsa87, ended, revoked, root, second_root, stranger } = vectorKeys

/** The message that keys of every algorithm sign. Others must follow from names alone: digests of them stand in later ones. */
const signed_by_all_index = 4

/** A message of each kind in one chain, by keys of every algorithm, in a courier's folder with its manifest. */
export async function writeMedium(writer: VectorWriter): Promise<void> {
  const folder = 'alpha-to-bravo-0000000000000001'
  const digests: string[] = []
  const files: JsonMembers[] = []
  const send = async (kind: string, data: JsonMembers, by: readonly StoredKey[], more: Partial<MessageDraft> = {}) => {
    const seq = digests.length + 1
    const message = buildSampleMessage(kind, data, { seq, prev: digests.at(-1) ?? zeros, ...more })
    const signed = await signMessage(message, by)
    digests.push(signed.digest)
    writeMessage(join(writer.dir, folder), signed)
    for (const part of ['body', 'env'] as const) {
      const text = signed[part]
      const name = `${signed.stem}.${part}.json`
      files.push({ name, bytes: Buffer.byteLength(text), sha384: sha384Hex(Buffer.from(text)) })
    }
    writer.vectors.push({ path: `${folder}/${signed.stem}.env.json`, keys: alpha_keys, threshold: by.length })
  }
  const all = [ed25519, es384, mldsa87]
  for (const [index, [kind, data]] of (await sampleBodies()).entries())
    await send(kind, data, index === signed_by_all_index ? all : [all[index % 3] ?? ed25519])
  const keyset = await signContent('keyset', keySet(1, zeros), [root])
  await send('keys', { keyset }, [ed25519])
  const checkpoint = await sampleCheckpoint('consensus@alpha', 3)
  const inventory = { epoch: 1, highest: digests.length, rolling: digests.at(-1), digests: [...digests] }
  await send('inventory', { ...inventory, checkpoints: [checkpoint] }, [ed25519])
  await send('gap_receipt', await sampleAcknowledgement([ed25519]), [ed25519])
  const manifest = {
    ...{ v: 1, type: 'platform.manifest', src: 'alpha', dst: 'bravo', channel: 'filedrop/alpha/bravo', created },
    ...{ medium: '0000000000000001', files },
  }
  const note = JSON.stringify(await signContent('manifest', manifest, all))
  writeDocument(writer, `${folder}/MANIFEST.json`, note, { threshold: 3 })
}

/** One body of each kind that roles send, in every form of its schema. */
async function sampleBodies(): Promise<[string, JsonMembers][]> {
  const session = { session_id, lens_id: 'lens', lens_version: '1' }
  const evidence = await signBlock(buildContent(1, sampleBlock), [ed25519])
  const exchange = { exchange_id: `xchg_${'2'.repeat(32)}`, agreement_digest: sha384('agreement').slice(0, 64) }
  const ratified = { event: 'ratified', seq: 4, at: created, decision: 'match', score: 0.9, attested: false }
  return [
    ['invitation', { ...session, subject, policy, classification: vectorLabel }],
    ['contribution', { session_id, pair_score: 0.9, accuracy: 0.9, credibility: 1, classification: vectorLabel }],
    ['result', { session_id, evidence }],
    ['result', { session_id, dissent: sampleDissent() }],
    ['result', { session_id, retraction: { at: created, was: 'RATIFIED' } }],
    ['lens_emission', { ...session, subject, ...ratified, evidence_block_id: String(evidence.block_id) }],
    ['signal', sampleSignal()],
    ['dataset', sampleDataset()],
    ['resolution', { say: 'agreed', ...exchange, size: 1_000 }],
    ['resolution', { say: 'ended', ...exchange, code: 'cancelled', reason: 'the operator ended it' }],
  ]
}

const announcement = {
  ...{ v: 1, type: 'platform.epoch', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo', epoch: 2 },
  ...{ reason: 'restored', created },
}

export async function writeEpoch(writer: VectorWriter): Promise<void> {
  const write = async (
    folder: string,
    content: JsonMembers,
    by: readonly StoredKey[],
    vector: Partial<Vector> = {},
  ) => {
    const epoch = await signContent('epoch', content, by)
    const signed = await signMessage(buildSampleMessage('keys', { epoch }, { epoch: 2 }), [ed25519])
    const path = writeMessage(join(writer.dir, folder), signed)
    writer.vectors.push({ path: path.slice(writer.dir.length + 1), keys: alpha_keys, ...vector })
  }
  await write('epoch-2', announcement, [root])
  await write('epoch-2-two-roots', announcement, [root, second_root], { root_threshold: 2 })
  await write('bad/epoch-of-one-root', announcement, [root], { root_threshold: 2, reason: 'THRESHOLD' })
  await write('bad/epoch-of-another-number', { ...announcement, epoch: 3 }, [root], { reason: 'SCHEMA' })
  await write('bad/epoch-of-another-peer', { ...announcement, dst: 'charlie' }, [root], { reason: 'WRONG_DST' })
}

export async function writeBadMessages(writer: VectorWriter): Promise<void> {
  await writeBadControlMessages(writer)
  const data = (await sampleBodies())[1]?.[1] ?? {}
  const write = async (
    name: string,
    reason: string,
    more: Partial<MessageDraft>,
    by: readonly StoredKey[] = [ed25519],
  ) => {
    const signed = await signMessage(buildSampleMessage('contribution', data, more), by)
    const path = writeMessage(join(writer.dir, 'bad', name), signed)
    writer.vectors.push({ path: path.slice(writer.dir.length + 1), keys: alpha_keys, reason })
  }
  await write('key-not-pinned', 'UNKNOWN_KEY', {}, [stranger])
  await write('key-revoked', 'KEY_REVOKED', {}, [revoked])
  await write('key-ended', 'UNKNOWN_KEY', { created: '2026-03-01T12:00:00.001Z' }, [ended])
  await write('other-version', 'TYPE', { statement: { v: 3 } })
  await write('unknown-member', 'UNKNOWN_FIELD', { statement: { priority: 1 } })
  await write('other-number', 'NAME', { statement: { seq: 2 } })
  await write('channel-of-other-sites', 'WRONG_CHANNEL', { statement: { channel: 'filedrop/alpha/charlie' } })
  await write('first-with-a-predecessor', 'CHAIN_BREAK', { prev: 'f'.repeat(96) })
  await write('other-body', 'BODY_DIGEST', { statement: { body: { sha384: zeros, length: 1, schema: 'x/1' } } })
  await write('local-time', 'SCHEMA', { statement: { created: '2026-03-01T13:00:00+01:00' } })
  await write('without-label', 'LABEL_MISSING', { body: canonicalJson({ data, schema: 'consensus.contribution/1' }) })
  const repeated = canonicalJson({ data, label: vectorLabel, schema: 'x/1' }).replace('{', '{"schema":"y/1",')
  await write('repeated-member', 'DUP_KEY', { body: repeated })
  const names = Array.from({ length: bodyLimits.max_names }, (_, at) => [`filler${at}`, 0])
  const named = { ...data, ...Object.fromEntries(names) }
  const body = canonicalJson({ data: named, label: vectorLabel, schema: 'consensus.contribution/1' })
  await write('too-many-names', 'TOO_LARGE', { body })
}

/** Messages that sites send themselves, validly signed, whose content does not hold. */
async function writeBadControlMessages(writer: VectorWriter): Promise<void> {
  const write = async (name: string, reason: string, kind: string, data: JsonMembers) => {
    const signed = await signMessage(buildSampleMessage(kind, data), [ed25519])
    const path = writeMessage(join(writer.dir, 'bad', name), signed)
    writer.vectors.push({ path: path.slice(writer.dir.length + 1), keys: alpha_keys, reason })
  }
  const inventory = { epoch: 1, highest: 0, rolling: zeros, digests: [], checkpoints: [] }
  await write('inventory-of-more-than-there-is', 'SCHEMA', 'inventory', { ...inventory, highest: 7 })
  const forged = await sampleCheckpoint('consensus@alpha', 3, [stranger])
  await write('inventory-with-a-forged-checkpoint', 'UNKNOWN_KEY', 'inventory', { ...inventory, checkpoints: [forged] })
  const foreign = await sampleCheckpoint('consensus@bravo', 3)
  await write('inventory-with-a-checkpoint-of-another-site', 'SCHEMA', 'inventory', {
    ...inventory,
    checkpoints: [foreign],
  })
  const padded = await sampleAcknowledgement([ed25519])
  await write('acknowledgement-of-another-size', 'REFUSED', 'gap_receipt', { ...padded, padding: `${padded.padding} ` })
  // White space of two kinds carries a bit in each character; it is escaped in the body, which keeps its size.
  const tabs = `\t${padded.padding.slice(2)}`
  await write('acknowledgement-padded-with-a-tab', 'REFUSED', 'gap_receipt', { ...padded, padding: tabs })
}
