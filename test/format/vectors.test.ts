// The vectors of docs/: the product and the Python script, which shares no line with it, judge each as the list states.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageKinds } from '../../daemon/message-kinds.ts'
import { everyMessageSchema } from '../support/golden/every-message-schema.ts'
import { resolveKeys } from './altered-documents.ts'
import { makeCourierMedium } from './make-courier-medium.ts'
import { makeVectors } from './make-vectors.ts'
import { type DocumentRequest, judgeByProduct } from './product-verdicts.ts'
import { judgeByPython, withPython } from './python-verifier.ts'
import type { Vector } from './vector-writer.ts'

const vectors = path.resolve(import.meta.dirname, '../../docs/filedrop-vectors')
const listed = readList()

/** To be made again they are removed first: most signatures differ each time, and any other change is one of the format. */
function readList(): Vector[] {
  const list = path.join(vectors, 'VECTORS.json')
  return fs.existsSync(list) ? JSON.parse(fs.readFileSync(list, 'utf8')) : []
}

let dir: string
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(tmpdir(), 'format-'))
  await makeVectors(path.join(dir, 'made'))
  if (process.env.ACCEPT === '1' && listed.length === 0) fs.cpSync(path.join(dir, 'made'), vectors, { recursive: true })
})
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }))

const requestOf = (vector: Vector): DocumentRequest => ({
  ...{ path: path.join(vectors, vector.path), keys: resolveKeys(vectors, vector.keys) },
  ...(vector.threshold ? { threshold: vector.threshold } : {}),
  ...(vector.root_threshold ? { root_threshold: vector.root_threshold } : {}),
})

test('the list has vectors of every kind, that hold and that do not', () => {
  const count = (part: string, hasReason: boolean) =>
    listed.filter(({ path: file, reason }) => file.includes(part) && (reason !== undefined) === hasReason).length
  for (const part of [
    'env.json',
    'keyset',
    'receipt',
    'release',
    'checkpoint',
    'evidence',
    'audit',
    'epoch',
    'registry',
  ]) {
    expect([part, count(part, false) > 0, count(part, true) > 0]).toEqual([part, true, true])
  }
})

describe.each(listed)('$path', (vector) => {
  test('is judged by the product as the list states', async () => {
    const found = await judgeByProduct(requestOf(vector))
    expect(found.holds).toBe(vector.reason === undefined)
    if (found.reason !== undefined) expect(found.reason).toBe(vector.reason)
  })
})

test('the courier’s folder has every kind of message, with data of its schema', () => {
  const folder = path.join(vectors, 'alpha-to-bravo-0000000000000001')
  const bodies = fs.readdirSync(folder).filter((name) => name.includes('.body.'))
  const found = bodies.map((name) => {
    const body = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'))
    const { payload } = JSON.parse(fs.readFileSync(path.join(folder, name.replace('.body.', '.env.')), 'utf8'))
    const { kind } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const schema = everyMessageSchema.find((each) => each.kind === kind && each.name === body.schema)
    return { kind, name, fault: schema ? schema.data.safeParse(body.data).error?.message : 'another schema' }
  })
  expect(found.filter(({ fault }) => fault !== undefined)).toEqual([])
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(messageKinds.names))
})

withPython('the Python script judges each as the list states', async () => {
  const verdicts = await judgeByPython(listed.map(requestOf))
  const found = verdicts.map(({ reason }, index) => [listed[index]?.path, reason])
  expect(found).toEqual(listed.map(({ path: file, reason }) => [file, reason]))
})

test('made again they are the same but for signatures that differ each time', () => {
  const made = path.join(dir, 'made')
  const files = fs.readdirSync(made, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes('.'))
  expect(files.sort()).toEqual(
    fs
      .readdirSync(vectors, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.includes('.'))
      .sort(),
  )
  for (const file of files.filter((each) => fs.statSync(path.join(made, each)).isFile())) {
    expect(readWithoutSignatures(path.join(made, file)), file).toBe(readWithoutSignatures(path.join(vectors, file)))
  }
})

/** The manifest lists digests of envelopes, so that its signed content differs too. */
function readWithoutSignatures(file: string): string {
  const text = fs.readFileSync(file, 'utf8').replace(/"signature":"[\w-]+"/g, '"signature":""')
  return path.basename(file) === 'MANIFEST.json' ? text.replace(/"payload":"[\w-]+"/, '') : text
}

describe('a medium that two sites make', () => {
  let folder: string
  beforeAll(async () => {
    const fresh = path.join(dir, 'fresh')
    folder = path.join(fresh, await makeCourierMedium(fresh))
  })

  const requests = (): DocumentRequest[] => {
    const names = fs.readdirSync(folder).filter((name) => !name.includes('.body.'))
    const keys = path.join(path.dirname(folder), 'KEYS.json')
    return names
      .sort()
      .map((name) => ({ path: path.join(folder, name), keys, threshold: name.startsWith('0') ? 1 : 3 }))
  }

  test('holds for the product', async () => {
    const verdicts = await Promise.all(requests().map(judgeByProduct))
    expect(verdicts).toEqual(Array.from({ length: 5 }, () => ({ holds: true })))
  })

  withPython('holds for the Python script', async () => {
    const verdicts = await judgeByPython(requests())
    expect(verdicts.map(({ holds }) => holds)).toEqual([true, true, true, true, true])
  })
})
