// Cryptographic algorithms that the code names, found in the code itself.
import { listRepositoryFiles, readSource, type SourceFile } from '../repository/source-tree.ts'

export type AlgorithmUse = { readonly algorithm: string; readonly file: string; readonly purpose: string }

/** What a source writes where it selects an algorithm, and the name of the algorithm in the standards. */
const namedAlgorithms: readonly (readonly [RegExp, string])[] = [
  [/\b(?:createHash|hash)\('sha1'/, 'SHA-1 (FIPS 180-4), no security depends on it'],
  [/\b(?:createHash|hash)\('sha256'/, 'SHA-256 (FIPS 180-4)'],
  [/\b(?:createHash|hash)\('sha384'/, 'SHA-384 (FIPS 180-4)'],
  [/\b(?:createHash|hash)\('sha512'/, 'SHA-512 (FIPS 180-4)'],
  [/\bcreateHmac\('sha256'|\bhmacSha256\(/, 'HMAC with SHA-256 (FIPS 198-1)'],
  [/\bhkdfSync\('sha256'/, 'HKDF with SHA-256 (RFC 5869)'],
  [/\bpbkdf2(?:Sync)?\b/, 'PBKDF2 (SP 800-132)'],
  [/'aes-256-gcm'|\bA256GCM\b/, 'AES-256 in GCM (SP 800-38D)'],
  [/PBES2-HS512\+A256KW/, 'PBES2 with HMAC-SHA-512 and AES-256 key wrap (RFC 7518)'],
  [/'Ed25519'/, 'Ed25519 (RFC 8032, FIPS 186-5)'],
  [/'ES384'|\bES384\b/, 'ECDSA on P-384 with SHA-384 (FIPS 186-5)'],
  [/'ML-DSA-87'/, 'ML-DSA-87 (FIPS 204)'],
  [/'RS256'/, 'RSA PKCS #1 v1.5 with SHA-256 (RFC 7518): of other parties alone'],
  [/'PS256'/, 'RSA-PSS with SHA-256 (RFC 7518): of other parties alone'],
  [/x25519/i, 'X25519 (RFC 7748)'],
  [/ristretto/i, 'ristretto255 (RFC 9496)'],
  [/minVersion[^\n]*TLSv1\.3/, 'TLS 1.3 (RFC 8446)'],
  [/minVersion[^\n]*TLSv1\.2/, 'TLS 1.2 or 1.3 (RFC 5246, RFC 8446)'],
]

/** Functions of Node that take an algorithm; a file that calls one must be in the list of `findAlgorithmUses`. */
const selecting =
  /\b(?:createHash|createHmac|createCipheriv|pbkdf2(?:Sync)?|promisify\(pbkdf2\)|scrypt(?:Sync)?|hkdfSync|diffieHellman|generateKeyPairSync)\(/

const isSource = (file: string) => /^(adapters|cli|daemon)\/.*(?<!\.test)\.tsx?$/.test(file)

export function findAlgorithmUses(): AlgorithmUse[] {
  return sources().flatMap((source) =>
    namedAlgorithms
      .filter(([pattern]) => pattern.test(withoutComments(source.text)))
      .map(([, algorithm]) => ({ algorithm, file: source.path, purpose: firstComment(source) })),
  )
}

/** Files that select an algorithm by a name that no pattern above knows. */
export function findUnlistedUses(): string[] {
  const listed = new Set(findAlgorithmUses().map(({ file }) => file))
  return sources()
    .filter(({ path, text }) => selecting.test(withoutComments(text)) && !listed.has(path))
    .map(({ path }) => path)
}

let read: readonly SourceFile[] | undefined

function sources(): readonly SourceFile[] {
  read ??= listRepositoryFiles().filter(isSource).map(readSource)
  return read
}

const withoutComments = (text: string) => text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')

function firstComment({ text }: SourceFile): string {
  return /^\/\/ (.+)$/m.exec(text)?.[1] ?? ''
}
