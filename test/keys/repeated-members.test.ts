// Nothing that is signed or verified is read from JSON that names a member twice: two readers would see two values.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildJwks } from '../../adapters/keys/jose/jwks.ts'
import { keySetFile } from '../../daemon/kernel/cryptography/key-set.ts'
import { jws } from '../../daemon/kernel/cryptography/signatures.ts'
import { sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { parseJsonAs } from '../../daemon/kernel/encoding/parse-json.ts'
import { unlabelledBody } from '../../daemon/kernel/messaging/statement.ts'
import { parseUnlabelledStatement } from '../../daemon/kernel/messaging/statement-format.ts'
import { runToEnd } from '../../daemon/kernel/role/run-to-end.ts'
import { verifyAuditExport } from '../../daemon/offline/audit/audit-export-verification.ts'
import { verifyEvidence } from '../../daemon/offline/evidence/evidence-file.ts'
import { parseEpochFile } from '../../daemon/offline/filedrop/epoch-signing.ts'
import { parseKeySetDraft } from '../../daemon/offline/keys/key-set-draft.ts'
import { parseKeySetFile } from '../../daemon/offline/keys/key-set-file.ts'
import { parseJwks } from '../../daemon/offline/keys/site-keys.ts'
import { readSignedBody } from '../../daemon/shared/federation-message/signed-body.ts'
import { createUnstoredKey } from './key-set-fixture.ts'

/** The text, with its first member once more in front: a last-wins reader still sees the value that was there. */
const repeatMember = (text: string, value = '0') => text.replace(/^\{("[^"]+"):/, `{$1:${value},$1:`)

const signed = { payload: 'e30', signatures: [{ protected: 'e30', signature: 'e30' }] }

test('a JWKS', async () => {
  const { public_key } = await createUnstoredKey()
  const text = JSON.stringify(buildJwks([public_key]))
  expect(parseJwks(text)).toHaveLength(1)
  expect(() => parseJwks(repeatMember(text, '[]'))).toThrow(/names a member twice/)
})

test('a receipt, a key set file, and a draft of one', () => {
  const receipt = JSON.stringify(signed)
  expect(parseJsonAs(jws, receipt)).toEqual(signed)
  expect(parseJsonAs(jws, repeatMember(receipt, '"e30"'))).toBeUndefined()
  const file = JSON.stringify(keySetFile.parse({ v: 1, type: 'platform.keyset-file', sets: [signed] }))
  expect(parseKeySetFile(file)).toHaveLength(1)
  expect(parseKeySetFile(repeatMember(file))).toBeUndefined()
  expect(parseKeySetDraft(repeatMember(file))).toBeUndefined()
})

test('an epoch announcement', () => {
  const announcement = {
    ...{ v: 1, type: 'platform.epoch', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo', epoch: 2 },
    ...{ reason: 'restored', created: '2026-01-01T00:00:00.000Z' },
  }
  const text = JSON.stringify(announcement)
  expect(parseEpochFile(text)).toEqual({ announcement })
  expect(() => parseEpochFile(repeatMember(text))).toThrow(/not an epoch announcement/)
})

test('an audit line and an evidence block', async () => {
  const hash = 'a'.repeat(64)
  const text = JSON.stringify({ writer: 'hub@n1', seq: 1, prev: hash, event_digest: hash, hash })
  const file = join(mkdtempSync(join(tmpdir(), 'platform-export-')), 'audit.jsonl')
  writeFileSync(file, text)
  expect((await verifyAuditExport(file, async () => undefined)).chains).toMatchObject([{ writer: 'hub@n1' }])
  writeFileSync(file, repeatMember(text, '"hub@n2"'))
  await expect(verifyAuditExport(file, async () => undefined)).rejects.toThrow(/line 1 is not an audit record/)
  await expect(verifyEvidence('{"decision":"non_match","decision":"match"}', [])).rejects.toThrow(/not JSON/)
})

test('a statement, and the body that it was signed for', () => {
  expect(parseUnlabelledStatement(Buffer.from('{"v":2,"v":1}'))).toBeUndefined()
  const body = Buffer.from('{"schema":"a/1","schema":"b/1","data":{}}')
  const statement = { kind: 'signal', body: { sha384: sha384(body), length: body.length, schema: 'b/1' } } as const
  const reading = readSignedBody(statement, 'signal', body.toString('base64url'), unlabelledBody)
  expect(runToEnd(reading)).toBeUndefined()
})
