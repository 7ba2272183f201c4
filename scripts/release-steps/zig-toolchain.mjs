// The C++ compiler of a release: Zig from the package registry of Python, by its digest, since it links for any glibc.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

export const zig = {
  version: '0.17.0',
  sha256: {
    x64: '97079827064a7492cce5541ceb438ae8003ce1e54e399676da2d62fb7a5dc08b',
    arm64: 'd2804f94f54f7fcf8169f4b212a619ad688a4e2e6592e976f0cf2e58e2cd8af3',
  },
}

/** Outside of the checkout, so that a fresh clone uses it too. */
export function releaseCache() {
  const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'platform-release')
  fs.mkdirSync(folder, { recursive: true })
  return folder
}

/** The folder of the toolchain; fetched once and verified. */
export function zigToolchain() {
  const folder = path.join(releaseCache(), `ziglang-${zig.version}-${process.arch}`)
  if (fs.existsSync(folder)) return folder
  const draft = fs.mkdtempSync(`${folder}.`)
  try {
    const wheel = fetchWheel(draft)
    run('python3', ['-m', 'zipfile', '-e', wheel, draft])
    fs.rmSync(wheel)
    fs.chmodSync(path.join(draft, 'ziglang/zig'), 0o755)
    fs.renameSync(draft, folder)
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
  return folder
}

/** Zipped Python packages are not run: pip only downloads this one, of the pinned digest. */
function fetchWheel(into) {
  const digest = zig.sha256[process.arch]
  if (!digest) throw new Error(`releases are built on x64 and arm64, not on ${process.arch}`)
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:']
  run('python3', ['-m', 'pip', 'download', ...options, '-d', into, `ziglang==${zig.version}`])
  const [name] = fs.readdirSync(into).filter((file) => file.endsWith('.whl'))
  const wheel = path.join(into, name)
  const found = createHash('sha256').update(fs.readFileSync(wheel)).digest('hex')
  if (found !== digest) throw new Error(`${name} has the SHA-256 ${found}, not ${digest}`)
  return wheel
}

export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
}

/** Without blocking, so that two compilers run at once. */
export async function runBeside(command, args, options) {
  await promisify(execFile)(command, args, { maxBuffer: 16_777_216, ...options })
}
