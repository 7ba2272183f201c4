// Lines in segments: in order, once each, whole or not at all, on a full disk too.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mountSmallDisk, onSmallDisk } from '../../../test/support/store/small-disk.ts'
import { segmentFolder } from './segment-folder.ts'
import { SegmentWriter } from './segment-writer.ts'

let base: string
let dir: string
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'segments-'))
  dir = join(base, 'audit')
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

function createWriter(name = 'a', more: { most_bytes?: number; most_held_bytes?: number } = {}) {
  const states: string[] = []
  const options = { dir, name, most_bytes: 1_000, most_held_bytes: 1_000, ...more }
  return {
    states,
    writer: new SegmentWriter({ ...options, onStateChange: (state, detail) => states.push(`${state} ${detail}`) }),
  }
}

test('lines are read in order; a full segment is followed by the next one', async () => {
  const folder = segmentFolder(dir)
  const { writer: one } = createWriter('a', { most_bytes: 8 })
  for (const line of ['one', 'two', 'three', 'grün']) {
    one.add(line)
    if (line !== 'one') one.flush()
  }
  await one.end()
  const names = await folder.sealed()
  expect(names).toEqual(['a-00000001', 'a-00000002'])
  const read = await Promise.all(names.map((name) => folder.read(name)))
  expect(read.map(({ text }) => text)).toEqual(['one\ntwo\n', 'three\ngrün\n'])
  expect(fs.statSync(join(dir, 'a-00000001.lines')).mode & 0o777).toBe(0o600)
  expect(fs.statSync(dir).mode & 0o777).toBe(0o700)
  await folder.remove('a-00000001')
  expect(await folder.sealed()).toEqual(['a-00000002'])
  expect(await folder.bytes()).toBe(12)
})

test('an open segment is not read; an abandoned segment is sealed and read', async () => {
  const folder = segmentFolder(dir)
  const { writer: one } = createWriter('a')
  const { writer: two } = createWriter('b')
  for (const each of [one, two]) {
    each.add('line')
    each.flush()
  }
  expect(await folder.sealed()).toEqual([])
  expect(folder.sealAbandoned('a')).toBe(1)
  expect(await folder.sealed()).toEqual(['a-00000001'])
  expect(folder.sealAbandoned()).toBe(1)
  expect(await folder.sealed()).toEqual(['a-00000001', 'b-00000001'])
})

test('a failed seal is retried by the same writer until it succeeds', async () => {
  const folder = segmentFolder(dir)
  const { writer: one, states } = createWriter()
  one.add('line')
  one.flush()
  fs.renameSync(dir, `${dir}.away`)
  one.seal()
  await expect.poll(() => states).toEqual(['failing ENOENT'])
  one.seal()
  fs.renameSync(`${dir}.away`, dir)
  await expect
    .poll(async () => {
      one.seal()
      return await folder.sealed()
    })
    .toEqual(['a-00000001'])
  expect((await folder.read('a-00000001')).text).toBe('line\n')
  one.add('another')
  one.flush()
  expect(states).toEqual(['failing ENOENT', 'back '])
})

test('a process that is killed loses no line that it flushed', async () => {
  const folder = segmentFolder(dir)
  const source = `
    import { SegmentWriter } from ${JSON.stringify(new URL('./segment-writer.ts', import.meta.url).href)}
    const one = new SegmentWriter({ dir: ${JSON.stringify(dir)}, name: 'k', most_bytes: 1e6, most_held_bytes: 1e6, onStateChange() {} })
    for (let at = 0; at < 1000; at += 1) { one.add('line ' + at); if (at % 7 === 0) one.flush() }
    one.flush()
    process.kill(process.pid, 'SIGKILL')`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', source])
  expect(signal).toBe('SIGKILL')
  expect(folder.sealAbandoned()).toBe(1)
  const { text, isTorn } = await folder.read('k-00000001')
  expect(isTorn).toBe(false)
  expect(text).toBe(Array.from({ length: 1_000 }, (_, at) => `line ${at}\n`).join(''))
})

test('a truncated last line is reported as torn', async () => {
  const folder = segmentFolder(dir)
  fs.writeFileSync(join(dir, 'a-1.lines'), 'whole\nhal')
  expect(await folder.read('a-1')).toMatchObject({ text: 'whole\nhal', isTorn: true })
})

test('while writes fail, lines are buffered, then dropped and counted; later the buffer is written once', async () => {
  const folder = segmentFolder(dir)
  fs.renameSync(dir, `${dir}-away`)
  const { writer: one, states } = createWriter('a', { most_held_bytes: 12 })
  for (const line of ['first', 'again', 'dropped']) {
    one.add(line)
    one.flush()
  }
  expect(states).toEqual(['failing ENOENT'])
  expect(one.lost).toBe(1)
  fs.renameSync(`${dir}-away`, dir)
  one.flush()
  one.add('later')
  await one.end()
  expect(states).toEqual(['failing ENOENT', 'back '])
  expect((await folder.read('a-00000001')).text).toBe('first\nagain\nlater\n')
})

onSmallDisk('a line that a full disk wrote in part is overwritten at the same offset', async () => {
  const disk = mountSmallDisk(1)
  try {
    const inside = join(disk.dir, 'audit')
    const folder = segmentFolder(inside)
    const states: string[] = []
    const options = { dir: inside, name: 'a', most_bytes: 1e6, most_held_bytes: 1e6 }
    const one = new SegmentWriter({ ...options, onStateChange: (state, detail) => states.push(`${state} ${detail}`) })
    one.add('stored')
    one.flush()
    disk.fillLeaving(1)
    const long = 'x'.repeat(9_000)
    one.add(long)
    one.flush()
    expect(states).toEqual(['failing ENOSPC'])
    expect(fs.statSync(join(inside, 'a-00000001.open')).size).toBeGreaterThan(5)
    disk.empty()
    one.add('after')
    await one.end()
    expect((await folder.read('a-00000001')).text).toBe(`stored\n${long}\nafter\n`)
  } finally {
    disk.unmount()
  }
})
