// An audit chain only ever grows, for any order in which its heads are reported.
import { describe, expect, test } from 'vitest'
import { compareHeads } from './rules.ts'

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
const head = (seq: number, hash: string, epoch: number, number: number) => ({ seq, hash, epoch, number })
const known = head(10, a, 2, 7)

describe('after ten records reported by inventory 7 of epoch 2', () => {
  test.each([
    ['the same records', head(10, a, 2, 9), 'same'],
    ['the same, by an inventory that was overtaken', head(10, a, 2, 3), 'same'],
    ['more, later', head(11, b, 2, 9), 'longer'],
    ['more, in a later epoch', head(11, b, 3, 1), 'longer'],
    ['fewer, by an inventory that was overtaken', head(9, b, 2, 6), 'older'],
    ['fewer, in an epoch before', head(9, b, 1, 99), 'older'],
    ['fewer, later', head(9, b, 2, 8), 'cut_short'],
    ['fewer, in a later epoch', head(9, b, 3, 1), 'cut_short'],
    ['more, by an inventory that was overtaken: the later report was cut short', head(11, b, 2, 6), 'cut_short'],
    ['another tenth record, later', head(10, b, 2, 9), 'rewritten'],
    ['another tenth record, before', head(10, b, 1, 1), 'rewritten'],
  ] as const)('%s', (_, reportedHead, outcome) => {
    expect(compareHeads(known, reportedHead)).toBe(outcome)
  })
})
