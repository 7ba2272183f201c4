// Keys of a scan come once each, whatever their bytes and their number.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { KeySpool } from './key-spool.ts'

test('each key comes once, also of many, and the folder goes with the spool', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'spool-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const spool = new KeySpool(path.join(folder, 'keys'))
  const many = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`${at}:`.repeat(50)))
  const odd = [Buffer.alloc(0), Buffer.from([0xff]), Buffer.from([0xff, 0]), Buffer.from('ÿ')]
  for (const key of [...odd, ...many, ...many.toReversed(), ...odd]) spool.add(key)
  const blocks = [...spool.blocks(128)]
  expect(Math.max(...blocks.map(({ length }) => length))).toBe(128)
  const hex = (keys: readonly Buffer[]) => keys.map((key) => key.toString('hex')).toSorted()
  expect(hex(blocks.flat())).toEqual(hex([...many, ...odd]))
  spool.close()
  expect(existsSync(path.join(folder, 'keys'))).toBe(false)
})
