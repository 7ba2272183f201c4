// Tests whether an executable is newer than its inputs, so that a repeated build does nothing.
import fs from 'node:fs'
import path from 'node:path'

const inputs = [
  'adapters',
  'cli',
  'daemon',
  'lenses',
  'packages/guidance-client/src',
  'profiles',
  'samples',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** Also compares the times of folders, which change when a file is removed. */
export function isFresh({ root, out }) {
  if (!fs.existsSync(out)) return false
  const built_ms = fs.statSync(out).mtimeMs
  return inputs.every((input) => newest(path.join(root, input)) <= built_ms)
}

function newest(file) {
  const stats = fs.statSync(file, { throwIfNoEntry: false })
  if (!stats) return 0
  if (!stats.isDirectory()) return /\.test\.tsx?$/.test(file) ? 0 : stats.mtimeMs
  return Math.max(stats.mtimeMs, ...fs.readdirSync(file).map((name) => newest(path.join(file, name))))
}
