// The verdict of the product on one document: the functions and commands that people and intake run.
import * as fs from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { verifyJws } from '../../adapters/keys/jose/signatures.ts'
import { importMedia } from '../../adapters/transport/filedrop/courier/import-media.ts'
import { manifest_file } from '../../adapters/transport/filedrop/courier/manifest.ts'
import { foldersOf, makeFolders } from '../../adapters/transport/filedrop/files/channel-folders.ts'
import { filedropSettings } from '../../adapters/transport/filedrop/settings.ts'
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { sha256 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { parseJson, parseJsonAs } from '../../daemon/kernel/encoding/parse-json.ts'
import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import { inventoryData } from '../../daemon/kernel/messaging/inventory.ts'
import { readSenderKeys, type SenderKeys, verifyMessageFile } from '../../daemon/offline/filedrop/filedrop-files.ts'
import { parseKeySetFile, verifyNewestKeySet } from '../../daemon/offline/keys/key-set-file.ts'
import { OfflineCommandError } from '../../daemon/offline/offline-command-error.ts'
import { SignedSnapshotReader } from '../../daemon/offline/resolve/registry/signed-snapshot-reader.ts'
import { verifySnapshotManifest } from '../../daemon/offline/resolve/registry/snapshot-signature.ts'
import { snapshotTrailer } from '../../daemon/roles/resolution/snapshot/model.ts'
import { readLastLine, splitIntoLines } from '../../daemon/runtime/resolution/files/snapshot-lines.ts'
import { findCheckpointFault } from '../../daemon/shared/audit-checkpoint/find-checkpoint-fault.ts'
import { runCommand } from '../support/command/run-command.ts'
import { steadySteps } from '../support/filedrop/courier-fixture.ts'
import { start_ms } from '../support/filedrop/filedrop-sites.ts'
import type { Vector } from './vector-writer.ts'

/** `reason`: the class of the first failure, where the product names one. */
export type DocumentVerdict = { readonly holds: boolean; readonly reason?: string }

export type DocumentRequest = Pick<Vector, 'path' | 'keys' | 'threshold' | 'root_threshold'>

/** `keys` and `path` are absolute, as for the Python script. */
export async function judgeByProduct(request: DocumentRequest): Promise<DocumentVerdict> {
  const name = basename(request.path)
  const judge = judges.find(({ files }) => files.test(name)) ?? { judge: judgeNote }
  return await judge.judge(request)
}

type DocumentJudge = (request: DocumentRequest) => Promise<DocumentVerdict>

const judges: readonly { readonly files: RegExp; readonly judge: DocumentJudge }[] = [
  { files: /\.(env|body)\.json$/, judge: judgeMessage },
  { files: /^MANIFEST\.json$/, judge: judgeManifest },
  { files: /\.evidence\.json$/, judge: (request) => judgeByCommand('evidence', request) },
  { files: /\.snapshot$/, judge: judgeSnapshot },
  { files: /\.jsonl$/, judge: (request) => judgeByCommand('audit', request) },
]

const holds = (is: boolean): DocumentVerdict => ({ holds: is })

async function readTrust({ keys, threshold, root_threshold }: DocumentRequest): Promise<SenderKeys> {
  const [own = ''] = keys.split(',')
  const found = await readSenderKeys(fs.readFileSync(own, 'utf8'))
  return { ...found, ...(threshold ? { threshold } : {}), ...(root_threshold ? { root_threshold } : {}) }
}

async function judgeMessage(request: DocumentRequest): Promise<DocumentVerdict> {
  const { ok, checks } = await verifyMessageFile(request.path, () => readTrust(request))
  const failed = checks.find(({ outcome }) => outcome === 'failed')
  return { holds: ok, ...(failed?.reason ? { reason: failed.reason } : {}) }
}

/** As an import judges it, but for the labels that the site admits. */
async function judgeSnapshot(request: DocumentRequest): Promise<DocumentVerdict> {
  const { keys, threshold = 1 } = await readTrust(request)
  const source = await open(request.path)
  try {
    const end = await readLastLine(source, (await source.stat()).size)
    const trailer = end && parseJsonAs(snapshotTrailer, end.line)
    const manifest = trailer && (await verifySnapshotManifest(trailer.signed, { keys, threshold }))
    if (!manifest || manifest.bytes !== end.from) return holds(false)
    const lines = fs.readFileSync(request.path).subarray(0, end.from)
    if (sha256(lines) !== manifest.sha256) return holds(false)
    const reader = new SignedSnapshotReader(manifest, (label) => label)
    await reader.read(splitIntoLines(Readable.from([lines])))
    return holds(true)
  } catch (error) {
    if (error instanceof OfflineCommandError) return holds(false)
    throw error
  } finally {
    await source.close()
  }
}

/** Of a file that is not text, and of one that does not hold. */
const unreadable_exit = 2
const refused_exit = 5

async function judgeByCommand(noun: 'evidence' | 'audit', { path, keys }: DocumentRequest): Promise<DocumentVerdict> {
  const { exit, stderr } = await runCommand([noun, 'verify', path, '--keys', keys])
  if (![0, unreadable_exit, refused_exit].includes(exit ?? 1))
    throw new Error(`${noun} verify ended with ${exit}: ${stderr}`)
  return holds(exit === 0)
}

const start = new Date(start_ms).toISOString()

function buildAlpha(keys: readonly PublicKey[], threshold: number): Peer {
  return {
    ...{ name: 'alpha', tenant_id: 'tenant-alpha', keys: [...keys], threshold, releasable_names: [], max_v: 1 },
    ...{ ceiling: { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-alpha' }, enrolled: start },
    ...{ not_after_days: 7, keep_days: 30, inventory_interval_s: 300 },
  }
}

/** Imports the folder of the manifest at a fresh site; the folder holds when nothing in it has a fault. */
async function judgeManifest(request: DocumentRequest): Promise<DocumentVerdict> {
  const { keys, threshold = 1 } = await readTrust(request)
  const root = fs.mkdtempSync(join(dirname(dirname(request.path)), 'site-'))
  const folder = dirname(request.path)
  const folders = foldersOf(root, 'alpha')
  makeFolders(folders, { site: 'bravo', peer: 'alpha', enrolled: start })
  let number = 0
  const imported = await importMedia(folder, {
    ...{
      site: 'bravo',
      signatures: { verify: verifyJws },
      folders: () => folders,
      settings: filedropSettings.parse({}),
    },
    peer: async (name) => (name === 'alpha' ? buildAlpha(keys, threshold) : undefined),
    random: (bytes) => String(number++).padStart(bytes * 2, '0'),
    steps: steadySteps,
    progress: () => undefined,
  })
  fs.rmSync(root, { recursive: true })
  return holds(
    imported.folders.length === 1 && imported.faults.length === 0 && fs.existsSync(join(folder, manifest_file)),
  )
}

async function judgeNote(request: DocumentRequest): Promise<DocumentVerdict> {
  const text = fs.readFileSync(request.path)
  const value = parseJson(text)
  if (isObject(value) && value.type === 'platform.keyset-file') return await judgeKeySetFile(text.toString())
  const trust = await readTrust(request)
  if (isObject(value) && 'writer' in value) return await judgeCheckpoint(value, trust)
  // Which fault comes first is not compared: the script names the same classes for messages alone.
  return holds((await verifyMessageFile(request.path, () => trust)).ok)
}

async function judgeKeySetFile(text: string): Promise<DocumentVerdict> {
  const sets = parseKeySetFile(text)
  if (!sets) return holds(false)
  try {
    await verifyNewestKeySet(sets)
    return holds(true)
  } catch (error) {
    if (error instanceof OfflineCommandError) return holds(false)
    throw error
  }
}

/** As a receiver finds it in an inventory. */
async function judgeCheckpoint(value: object, { keys, threshold = 1 }: SenderKeys): Promise<DocumentVerdict> {
  const head = inventoryData.shape.checkpoints.element.safeParse(value).data
  if (!head) return holds(false)
  const site = head.writer.slice(head.writer.lastIndexOf('@') + 1)
  return holds((await findCheckpointFault(head, { site, keys, threshold }, { verify: verifyJws })) === undefined)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
