// Archives of bundles: every way to leave the folder, to say a thing twice or to hide bytes is refused before the manifest counts.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { verifyBundle } from '../../daemon/offline/bundle/verify-bundle.ts'
import { OfflineCommandError } from '../../daemon/offline/offline-command-error.ts'
import { archiveBundle, attachSignatures, sealBundle } from '../../scripts/release-steps/seal-bundle.ts'
import { buildSmallBundle } from '../support/release/build-bundle.ts'

/** Changes a field of the header of an entry, and corrects its checksum. */
function changeHeader(archive: Buffer, name: string, change: (header: Buffer) => void): Buffer {
  const at = findHeader(archive, name)
  const header = archive.subarray(at, at + 512)
  change(header)
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return archive
}

function findHeader(archive: Buffer, name: string): number {
  for (let at = 0; at < archive.length; at += 512)
    if (
      archive
        .subarray(at, at + 100)
        .toString('latin1')
        .replace(/\0.*$/s, '')
        .endsWith(name)
    )
      return at
  throw new Error(`${name} is not in the archive`)
}

const folder = 'platform-1.2.3-linux-x64'
const rename = (name: string) => (header: Buffer) => {
  header.fill(0, 0, 100)
  header.write(name, 'latin1')
}
const onGuide = (change: (header: Buffer) => void) => (archive: Buffer) =>
  changeHeader(archive, 'docs/guide.md', change)

const changes: readonly (readonly [string, (archive: Buffer) => Buffer, string])[] = [
  ['a path above', onGuide(rename(`${folder}/../../etc/passwd`)), 'leaves the folder of the bundle'],
  ['an absolute path', onGuide(rename('/etc/passwd')), 'leaves the folder of the bundle'],
  ['an empty part', onGuide(rename(`${folder}//docs/guide.md`)), 'leaves the folder of the bundle'],
  ['a second folder', onGuide(rename('other/docs/guide.md')), 'the archive must be of one folder'],
  ['a file twice', onGuide(rename(`${folder}/platform`)), 'platform: is in the archive twice'],
  ['a symbolic link', onGuide((header) => header.write('2', 156)), 'is neither a file nor a folder'],
  ['a hard link', onGuide((header) => header.write('1', 156)), 'is neither a file nor a folder'],
  ['a device', onGuide((header) => header.write('3', 156)), 'is neither a file nor a folder'],
  ['a longer name in an extension', onGuide((header) => header.write('L', 156)), 'is neither a file nor a folder'],
  ['a mode', onGuide((header) => header.write('0004755', 100)), 'docs/guide.md: has the mode 4755, not 0644'],
  ['a size that is not octal', onGuide((header) => header.write('\u0080', 124, 'latin1')), 'has a damaged header'],
  ['a huge size', onGuide((header) => header.write('77777777777', 124)), 'the bundle is larger than'],
  ['bytes behind a file', hideBytes, 'docs/guide.md: the archive is cut off'],
  ['a damaged header', damageHeader, 'the archive has a damaged header'],
  ['no end', (archive) => archive.subarray(0, 2_048), 'the archive is cut off'],
  [
    'bytes behind the end',
    (archive) => Buffer.concat([archive, Buffer.from('x'.repeat(512))]),
    'something follows the end',
  ],
  ['bytes of another kind', () => Buffer.from('PK'.repeat(600)), 'the archive has a damaged header'],
  ['another name of the folder', renameFolder, `the folder of the archive is not ${folder}`],
]

function hideBytes(archive: Buffer): Buffer {
  archive[findHeader(archive, 'docs/guide.md') + 1_000] = 1
  return archive
}

function damageHeader(archive: Buffer): Buffer {
  archive[findHeader(archive, 'docs/guide.md') + 1] = 0x78
  return archive
}

function renameFolder(archive: Buffer): Buffer {
  for (let at = 0; at < archive.length; at += 512) {
    const name = archive
      .subarray(at, at + 100)
      .toString('latin1')
      .replace(/\0.*$/s, '')
    if (!name.startsWith(folder)) continue
    const entry = archive.subarray(at)
    changeHeader(entry, name, rename(name.replace(folder, 'platform-9.9.9-linux-x64')))
  }
  return archive
}

test.for(changes)('an archive with %s is refused', ([, change, expected]) => {
  const { archive, keys } = buildSmallBundle()
  writeFileSync(archive, change(readFileSync(archive)))
  let details: readonly string[] = []
  try {
    verifyBundle({ folder: archive, keys, arch: 'x64', now: Date.parse('2026-12-01T00:00:00Z') })
  } catch (error) {
    if (error instanceof OfflineCommandError && error.exit === 5) details = error.details
    else throw error
  }
  expect(details.join('\n')).toContain(expected)
})

test('archives of one bundle on two paths are the same bytes', () => {
  const { folder, archive, work } = buildSmallBundle()
  const copy = path.join(work, 'elsewhere', path.basename(folder))
  cpSync(folder, copy, { recursive: true })
  const about = { version: '1.2.3', arch: 'x64', commit: 'a'.repeat(40), date: '2026-11-01T00:00:00Z' } as const
  sealBundle({ folder: copy, about, signer: attachSignatures(path.join(folder, 'signatures')) })
  archiveBundle({ folder: copy, about, out: `${copy}.tar` })
  expect(readFileSync(`${copy}.tar`).equals(readFileSync(archive))).toBe(true)
})
