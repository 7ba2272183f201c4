// Makes the bundles of a release: executable, bills of materials, licences, provenance, documents; then checksums, signatures, archive.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundleFolder } from '../daemon/offline/bundle/bundle-manifest.ts'
import { listComponents } from './release-steps/components.mjs'
import { writeDocuments } from './release-steps/documents.mjs'
import { writeLicences } from './release-steps/licences.mjs'
import { describeProvenance } from './release-steps/provenance.mjs'
import { cyclonedx, spdx } from './release-steps/sbom.mjs'
import { archiveBundle, attachSignatures, sealBundle, signByKeys } from './release-steps/seal-bundle.ts'
import { sqliteAddon } from './release-steps/sqlite-addon.mjs'
import { zigToolchain } from './release-steps/zig-toolchain.mjs'

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: ['x64', 'arm64'] },
    out: { type: 'string', default: path.join(root, 'dist/release') },
    'signing-keys': { type: 'string' },
    signatures: { type: 'string' },
    dirty: { type: 'boolean', default: false },
  },
})
if (values.arch.some((arch) => !['x64', 'arm64'].includes(arch))) fail('--arch is x64 or arm64')
const origin = readOrigin()
const out = path.resolve(values.out)
fs.mkdirSync(out, { recursive: true })
for (const arch of values.arch) await makeBundle(arch)

/** Version, commit and date. Refuses changes that are not committed, since nobody could build the same bundle again. */
function readOrigin() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const isDirty = git('status', '--porcelain') !== ''
  if (isDirty && !values.dirty)
    fail('there are changes that are not committed; commit them, or pass --dirty for a trial')
  if (values['signing-keys'] && values.signatures) fail('--signing-keys and --signatures cannot be combined')
  const { name, version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const date = new Date(Number(git('log', '-1', '--format=%ct')) * 1_000).toISOString().replace('.000Z', 'Z')
  return { name, version, commit: `${git('rev-parse', 'HEAD')}${isDirty ? '-dirty' : ''}`, date }
}

function fail(message) {
  console.error(message)
  process.exit(2)
}

async function buildExecutable(arch) {
  const work = fs.mkdtempSync(path.join(out, '.work-'))
  const addon = await sqliteAddon({ root, arch })
  const [file, list] = ['platform', 'inputs'].map((name) => path.join(work, name))
  const args = ['--target', `linux-${arch}`, '--addon', addon, '--out', file, '--inputs', list]
  execFileSync(process.execPath, [path.join(import.meta.dirname, 'build.mjs'), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  return { work, file, addon, inputs: fs.readFileSync(list, 'utf8').trim().split('\n') }
}

async function makeBundle(arch) {
  const about = { ...origin, arch }
  const folder = path.join(out, bundleFolder(about))
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder)
  const built = await buildExecutable(arch)
  try {
    await fillBundle({ about, folder, built })
  } finally {
    fs.rmSync(built.work, { recursive: true, force: true })
  }
  const { version, commit, date } = about
  sealBundle({ folder, about: { version, arch, commit, date }, signer: findSigner(about) })
  archiveBundle({ folder, about, out: `${folder}.tar` })
  const digest = createHash('sha256')
    .update(fs.readFileSync(`${folder}.tar`))
    .digest('hex')
  console.log(`${digest}  ${path.basename(folder)}.tar`)
}

async function fillBundle({ about, folder, built }) {
  const write = (name, value) => fs.writeFileSync(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`)
  const executable = path.join(folder, 'platform')
  fs.copyFileSync(built.file, executable)
  fs.chmodSync(executable, 0o755)
  const sha256 = createHash('sha256').update(fs.readFileSync(executable)).digest('hex')
  const components = listComponents({ root, arch: about.arch, inputs: built.inputs, toolchain: zigToolchain() })
  write('sbom.cdx.json', cyclonedx({ about, sha256, components }))
  write('sbom.spdx.json', spdx({ about, sha256, components }))
  writeLicences({ root, into: path.join(folder, 'licences'), components })
  await writeDocuments({ root, folder })
  const files = [{ path: 'platform', sha256 }]
  write('provenance.json', describeProvenance({ root, about, files, addon: built.addon }))
}

/** Without keys or signatures the bundle is unsigned: another machine signs its manifest, and --signatures attaches them. */
function findSigner(about) {
  if (values['signing-keys']) return signByKeys(values['signing-keys'])
  if (values.signatures) return attachSignatures(path.join(values.signatures, bundleFolder(about), 'signatures'))
  console.error(`${bundleFolder(about)} is unsigned: \`platform verify-bundle\` refuses it`)
  return undefined
}
