// Branches as git keeps them: as files, and packed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readBranch, removeBranch, setBranch, underBranchLock } from './branch-file.ts'

const [former, newer] = ['a'.repeat(40), 'b'.repeat(40)]
const header = '# pack-refs with: peeled fully-peeled sorted \n'
const others = `${former} refs/heads/main\n${former} refs/heads/main/pending/x\n${former} refs/tags/v1\n^${newer}\n`

function makeRepository() {
  const gitdir = mkdtempSync(path.join(tmpdir(), 'branches-'))
  onTestFinished(() => rmSync(gitdir, { recursive: true, force: true }))
  mkdirSync(path.join(gitdir, 'refs/heads'), { recursive: true })
  return { gitdir, packed: path.join(gitdir, 'packed-refs') }
}

test('a branch is its file, or else the packed one, or absent', async () => {
  const { gitdir, packed } = makeRepository()
  expect(await readBranch(gitdir, 'pending/x')).toBeUndefined()
  writeFileSync(packed, `${header}${others}${former} refs/heads/pending/x\n`)
  expect(await readBranch(gitdir, 'pending/x')).toBe(former)
  await setBranch(gitdir, 'pending/x', newer)
  expect(await readBranch(gitdir, 'pending/x')).toBe(newer)
  expect(await readBranch(gitdir, 'pending')).toBeUndefined()
})

test('a branch whose file is damaged is not absent', async () => {
  const { gitdir } = makeRepository()
  for (const content of ['', 'ref: refs/heads/other\n']) {
    writeFileSync(path.join(gitdir, 'refs/heads/main'), content)
    await expect(readBranch(gitdir, 'main')).rejects.toMatchObject({ code: 'wrong_state' })
  }
})

test('a branch is removed from its file and the packed ones, and others stay', async () => {
  const { gitdir, packed } = makeRepository()
  writeFileSync(packed, `${header}${others}${former} refs/heads/pending/x\n`)
  await setBranch(gitdir, 'pending/x', newer)
  // A crash has left both.
  writeFileSync(`${packed}.lock`, 'platform\n')
  writeFileSync(`${packed}.new`, 'torn')
  await underBranchLock(gitdir, 'pending/x', () => removeBranch(gitdir, 'pending/x'))
  expect(await readBranch(gitdir, 'pending/x')).toBeUndefined()
  expect(readFileSync(packed, 'utf8')).toBe(`${header}${others}`)
  for (const file of ['packed-refs.lock', 'packed-refs.new', 'refs/heads/pending/x.lock'])
    expect(existsSync(path.join(gitdir, file))).toBe(false)
})
