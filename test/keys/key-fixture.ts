// A key folder in one line, and the spellings of an attack that no library would write.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readKeyFiles, type StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import type { KeyAlgorithm, PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'

export const noon = Date.parse('2026-01-01T12:00:00Z')

/** An empty folder's future path, gone after the test. */
export function createKeyFolderPath(): string {
  const dir = mkdtempSync(join(tmpdir(), 'platform-keys-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'keys')
}

export async function createKey(
  dir: string,
  use: PublicKey['use'] = 'message',
  algorithm: KeyAlgorithm = 'Ed25519',
): Promise<StoredKey> {
  const { kid } = await generateKey(dir, { use, algorithm, now: noon })
  const stored = readKeyFiles(dir).find((key) => key.public_key.kid === kid)
  if (!stored) throw new Error('the key was not written')
  return stored
}

export function encodeBase64url(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

export function decodeBase64url(text: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}
