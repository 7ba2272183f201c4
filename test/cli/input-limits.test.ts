// Files that are named on the command line have a size limit: a receipt of a peer cannot fill the memory.
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { max_key_set_bytes, max_receipt_bytes } from '../../cli/file/input-file.ts'
import { max_document_bytes } from '../../daemon/offline/read-input-file.ts'
import { max_registry_bytes } from '../../daemon/offline/resolve/registry/entity-registry.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('limits')
const env = { PLATFORM_SITE: path.join(dir, 'alpha') }
const file = path.join(dir, 'large.json')
beforeAll(async () => {
  await runJsonCommand(['init', '--site', env.PLATFORM_SITE])
})
afterAll(remove)

const message = path.join(dir, '00000001-0000000000000001.env.json')
const named = ['--tenant', 'b', '--ceiling', 'RESTRICTED']

test.each<[string, readonly string[], number]>([
  ['a receipt', ['filedrop', 'resend', '--receipt', file], max_receipt_bytes],
  ['an announcement', ['keys', 'sign-epoch', file], max_receipt_bytes],
  ['an evidence block', ['evidence', 'verify', file], max_document_bytes],
  ['a key of a person', ['people', 'add', 'ann', file], max_document_bytes],
  ['the keys of a peer', ['peers', 'add', 'bravo', '--keys', file, ...named], max_key_set_bytes],
  ['the keys for a message', ['filedrop', 'verify', message, '--keys', file], max_key_set_bytes],
  ['a lens', ['resolve', 'lens', 'validate', file], max_document_bytes],
  ['a model', ['resolve', 'lens', 'import', file], 2 * max_document_bytes],
  ['a specification', ['proxy', 'allowlist', '--from', file], max_document_bytes],
  ['a registry', ['resolve', 'match', '--registry', file, '--lens', 'persons', '--data', file], max_registry_bytes],
  ['a draft of a key set', ['keys', 'set', 'publish', file], max_key_set_bytes],
])('%s is refused above its limit, and read below it', async (_, words, limit) => {
  writeFileSync(message, '{}')
  writeFileSync(file, '')
  truncateSync(file, limit + 1)
  expect(await runCommand(words, { env })).toMatchObject({
    ...{ exit: 2, stderr: expect.stringContaining(`larger than ${limit} bytes`) },
  })
  writeFileSync(file, '{}')
  expect((await runCommand(words, { env })).stderr).not.toContain('larger than')
})

test('a folder, a missing file and bytes that are not UTF-8 are named as what they are', async () => {
  const verify = async (name: string) => await runCommand(['evidence', 'verify', path.join(dir, name)])
  mkdirSync(path.join(dir, 'folder'))
  writeFileSync(path.join(dir, 'binary'), Buffer.of(0x22, 0xff, 0x22))
  expect(await verify('folder')).toMatchObject({ exit: 1, stderr: expect.stringContaining('it is a folder') })
  expect(await verify('missing')).toMatchObject({ exit: 1, stderr: expect.stringContaining('it does not exist') })
  expect(await verify('binary')).toMatchObject({ exit: 2, stderr: expect.stringContaining('is not UTF-8 text') })
})
