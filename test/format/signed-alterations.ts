// Alterations of one signed document: of its files, its signatures, and what it signs under new signatures.

import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { bodyLimits } from '../../daemon/kernel/messaging/body-limits.ts'
import { alterText, alterValue, fileAlterations, type Random, spellingAlterations } from './alterations.ts'
import { type JsonMembers, signContent } from './signed-documents.ts'
import { vectorKeys } from './vector-keys.ts'

export type AlteredFile = { readonly change: string; readonly text: string | Buffer; readonly body?: string | Buffer }

export type VectorSource = {
  readonly path: string
  readonly text: string
  readonly body: string
  readonly signers: readonly StoredKey[]
}

const all = Object.values(vectorKeys)

export const messageFiles = /\.env\.json$/

const decode = (payload: unknown): JsonMembers => JSON.parse(Buffer.from(String(payload), 'base64url').toString())

/** The keys that signed the document, so that it can be signed again. */
export function findSigners(text: string): StoredKey[] {
  const kids = [...text.matchAll(/"protected":"([^"]+)"/g)].map(([, header]) => String(decode(header).kid))
  const found = all.filter(({ public_key }) => kids.includes(public_key.kid))
  return found.length > 0 ? found : [vectorKeys.ed25519]
}

export function pick(from: typeof fileAlterations, random: Random): (text: string) => AlteredFile {
  const { name, alter } = from[random(from.length)] ?? { name: '', alter: String }
  return (text) => ({ change: name, text: alter(text, random) })
}

export function alterBodyFile(text: string, body: string, random: Random): AlteredFile {
  const { change, text: changed } = pick(random(2) === 0 ? fileAlterations : spellingAlterations, random)(body)
  return { change, text, body: changed }
}

export function alterDocument(text: string, random: Random): AlteredFile {
  const { name, value } = alterValue(JSON.parse(text), random)
  return { change: name, text: JSON.stringify(value) }
}

type Envelope = { payload: string; signatures: { protected: string; signature: string }[] }

export function alterSignatures(text: string, random: Random): AlteredFile {
  const jws = JSON.parse(text) as Envelope
  const [first = { protected: '', signature: '' }] = jws.signatures
  const changes: Readonly<Record<string, () => unknown>> = {
    'signature repeated': () => jws.signatures.push(first),
    'signatures removed': () => jws.signatures.splice(0),
    'signature removed': () => jws.signatures.pop(),
    'payload padded': () => (jws.payload += '='),
    'signature padded': () => (first.signature += '=='),
    'signature in base64': () => (first.signature = Buffer.from(first.signature, 'base64url').toString('base64')),
    'spare bits set': () => (first.signature = setSpareBits(first.signature)),
    'payload with spare bits': () => (jws.payload = setSpareBits(jws.payload)),
    'signature cut': () => (first.signature = first.signature.slice(0, -4)),
    'signature of another': () => (first.signature = Buffer.alloc(64, 1).toString('base64url')),
    'seventeen signatures': () => (jws.signatures = Array.from({ length: 17 }, () => first)),
    'line end in the payload': () => (jws.payload = `${jws.payload.slice(0, 8)}\n${jws.payload.slice(8)}`),
  }
  const names = Object.keys(changes)
  const change = names[random(names.length)] ?? ''
  changes[change]?.()
  return { change, text: JSON.stringify(jws) }
}

/** Another last character of the same bytes, where the length leaves bits over. */
function setSpareBits(encoded: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return `${encoded.slice(0, -1)}${alphabet[(alphabet.indexOf(encoded.at(-1) ?? '') | 1) % 64]}`
}

/** The header is signed too: the key signs whatever it says. */
export async function alterHeader({ text, body, signers }: VectorSource, random: Random): Promise<AlteredFile> {
  const { payload } = JSON.parse(text) as Envelope
  const purposes = [
    'statement',
    'evidence',
    'checkpoint',
    'keyset',
    'epoch',
    'manifest',
    'gap-receipt',
    'release',
    'statement/2',
  ]
  const purpose = purposes[random(purposes.length)] ?? ''
  const jws = await signContent(purpose, Buffer.from(payload, 'base64url').toString(), signers)
  return { change: `signed as ${purpose}`, text: JSON.stringify(jws), body }
}

function purposeOf(text: string): string {
  const { signatures } = JSON.parse(text) as Envelope
  return String(decode(signatures[0]?.protected).typ).replace(/^platform-(.*)\+jws$/, '$1')
}

export async function alterSigned({ text, body, signers }: VectorSource, random: Random): Promise<AlteredFile> {
  const { name, text: signed } = alterText(decode(JSON.parse(text).payload), random)
  return { change: name, text: JSON.stringify(await signContent(purposeOf(text), signed, signers)), body }
}

/** The same content under other keys of the sender, or of others. */
export async function alterSigner({ text, body }: VectorSource, random: Random): Promise<AlteredFile> {
  const by = all.filter(() => random(3) === 0)
  const signers = by.length > 0 ? by : [vectorKeys.stranger]
  const { payload } = JSON.parse(text) as Envelope
  const jws = await signContent(purposeOf(text), Buffer.from(payload, 'base64url').toString(), signers)
  const names = Object.entries(vectorKeys).flatMap(([name, key]) => (signers.includes(key) ? [name] : []))
  return { change: `signed by ${names.join(', ')}`, text: JSON.stringify(jws), body }
}

/** An altered body, and the statement of the sender over exactly that body. */
export async function alterSignedBody({ text, body, signers }: VectorSource, random: Random): Promise<AlteredFile> {
  const { name, text: altered } = alterText(JSON.parse(body), random)
  return { change: name, ...(await signBody(text, altered, signers)) }
}

const { max_values, max_names, max_escapes } = bodyLimits

/** As many values, names and escapes as a body may have, and one more. */
const amounts: Readonly<Record<string, (present: BodyAmounts) => JsonMembers>> = {
  'as many values as allowed': ({ values }) => ({ filler: Array(max_values - values - 1).fill(0) }),
  'one value too many': ({ values }) => ({ filler: Array(max_values - values).fill(0) }),
  'as many names as allowed': ({ names }) => ({ filler: nameMembers(max_names - names - 1) }),
  'one name too many': ({ names }) => ({ filler: nameMembers(max_names - names) }),
  'as many escapes as allowed': ({ escapes }) => ({ filler: '\n'.repeat(max_escapes - escapes) }),
  'one escape too many': ({ escapes }) => ({ filler: '\n'.repeat(max_escapes - escapes + 1) }),
}

type BodyAmounts = { readonly values: number; readonly names: number; readonly escapes: number }

function nameMembers(count: number): JsonMembers {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`filler${at}`, 0]))
}

function countAmounts(body: string): BodyAmounts {
  const names = new Set<string>()
  let values = 0
  JSON.parse(body, (_name, value) => {
    values += 1
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const name of Object.keys(value)) names.add(name)
    return value
  })
  return { values, names: names.size, escapes: [...body.matchAll(/\\(u[0-9a-f]{4}|.)/gi)].length }
}

/** An amount of values, names or escapes at its limit, signed as it is. */
export async function alterAmount({ text, body, signers }: VectorSource, random: Random): Promise<AlteredFile> {
  const changes = Object.keys(amounts)
  const change = changes[random(changes.length)] ?? ''
  const content = JSON.parse(body) as { data: JsonMembers }
  const data = { ...content.data, ...amounts[change]?.(countAmounts(body)) }
  return { change, ...(await signBody(text, JSON.stringify({ ...content, data }), signers)) }
}

async function signBody(
  text: string,
  body: string,
  signers: readonly StoredKey[],
): Promise<{ text: string; body: string }> {
  const statement = decode(JSON.parse(text).payload)
  const signed = {
    ...statement,
    body: { ...(statement.body as object), sha384: sha384(body), length: Buffer.byteLength(body) },
  }
  return { text: JSON.stringify(await signContent('statement', signed, signers)), body }
}

/** The signed documents inside a message that a site sends itself, and its data. */
export async function alterInside(source: VectorSource, random: Random): Promise<AlteredFile> {
  const content = JSON.parse(source.body) as { data: JsonMembers }
  const { data } = content
  const nested = Object.keys(data).find(
    (name) => ['keyset', 'epoch', 'receipt'].includes(name) && typeof data[name] === 'object',
  )
  const change = nested ? await alterNested(data, nested, random) : alterInPlace(content, random)
  return { change, ...(await signBody(source.text, JSON.stringify(content), source.signers)) }
}

async function alterNested(data: JsonMembers, name: string, random: Random): Promise<string> {
  const text = JSON.stringify(data[name])
  const source = { path: '', text, body: '', signers: findSigners(text) }
  const altered = random(5) === 0 ? await alterSigner(source, random) : await alterSigned(source, random)
  data[name] = JSON.parse(String(altered.text))
  return `${name} ${altered.change}`
}

function alterInPlace(content: { data: JsonMembers }, random: Random): string {
  const { name, value } = alterValue(content.data, random)
  content.data = value
  return name
}

export async function alterKeySet({ text }: VectorSource, random: Random): Promise<AlteredFile> {
  const file = JSON.parse(text) as { sets: Envelope[] }
  const newest = JSON.stringify(file.sets.at(-1))
  const source = { path: '', text: newest, body: '', signers: findSigners(newest) }
  const altered = random(5) === 0 ? await alterSigner(source, random) : await alterSigned(source, random)
  file.sets.splice(-1, 1, JSON.parse(String(altered.text)))
  return { change: altered.change, text: JSON.stringify(file) }
}
