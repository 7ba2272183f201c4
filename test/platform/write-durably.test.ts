// A durable file is whole under its name or absent, whatever fails on the way, and leaves no draft behind.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeDurably, writeDurablyAsync, writeFully } from '../../adapters/platform/durable-file/write-durably.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'durable-'))
  file = join(folder, 'file')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const read = (path: string) => fs.readFileSync(path, 'utf8')
const stop = () => {
  throw new Error('stopped')
}

type Options = Parameters<typeof writeDurablyAsync>[2]
const variants: readonly (readonly [string, (content: string, options?: Options) => Promise<void>])[] = [
  [
    'writeDurably',
    async (content, options) => writeDurably(file, content, options as Parameters<typeof writeDurably>[2]),
  ],
  ['writeDurablyAsync', (content, options) => writeDurablyAsync(file, content, options)],
]

describe.each(variants)('%s', (_, write) => {
  test('creates a private file, replaces it, and leaves no draft', async () => {
    await write('one')
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    await write('two', { mode: 0o640 })
    expect(read(file)).toBe('two')
    expect(fs.statSync(file).mode & 0o777).toBe(0o640)
    expect(fs.readdirSync(folder)).toEqual(['file'])
  })

  test('keeps the former file and removes the draft when the last check throws', async () => {
    await write('one')
    await expect(write('two', { beforeRename: stop })).rejects.toThrow('stopped')
    expect(read(file)).toBe('one')
    expect(fs.readdirSync(folder)).toEqual(['file'])
  })

  test('shows the last check a complete draft, and no file yet', async () => {
    const draft = join(folder, 'draft')
    const seen: unknown[] = []
    await write('one', { draft, beforeRename: () => void seen.push(read(draft), fs.existsSync(file)) })
    expect(seen).toEqual(['one', false])
  })

  test('refuses a draft of another writer and leaves it, unless it is a leftover to overwrite', async () => {
    const draft = join(folder, 'draft')
    fs.writeFileSync(draft, 'a longer text of another writer')
    await expect(write('one', { draft })).rejects.toMatchObject({ code: 'EEXIST', path: draft })
    expect(fs.readdirSync(folder)).toEqual(['draft'])
    await write('one', { draft, existing_draft: 'overwrite' })
    expect(read(file)).toBe('one')
    expect(fs.readdirSync(folder)).toEqual(['file'])
  })
})

test('a content function that throws leaves neither file nor draft', async () => {
  expect(() => writeDurably(file, stop)).toThrow('stopped')
  await expect(writeDurablyAsync(file, async () => stop())).rejects.toThrow('stopped')
  expect(fs.readdirSync(folder)).toEqual([])
})

test('a content function writes piece by piece', () => {
  writeDurably(file, (opened) => {
    writeFully(opened, 'first ')
    writeFully(opened, Buffer.from('second'))
  })
  expect(read(file)).toBe('first second')
})

test('an existing file is kept where it must not be replaced', () => {
  writeDurably(file, 'one', { existing_file: 'refuse' })
  expect(() => writeDurably(file, 'two', { existing_file: 'refuse' })).toThrow('EEXIST')
  expect(read(file)).toBe('one')
  expect(fs.readdirSync(folder)).toEqual(['file'])
})
