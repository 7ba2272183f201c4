// What a page shows agrees with what was printed only line by line, with figures as they are and ids of the same kind.
import { expect, test } from 'vitest'
import { findOutputFault } from './find-output-fault.ts'

const shown = ['UID  LEFT', 'match_de0cd0e31c787f02  east/A048  1.2633', '…']
const printed = 'UID                     LEFT\nmatch_0011223344556677  east/A048  1.2633\nmatch_1  x\n'

test('agrees whatever the width of columns, and the value of ids', () => {
  expect(findOutputFault(shown, printed)).toBeUndefined()
  expect(findOutputFault(['ses_… is open at /srv/alpha'], 'ses_00ff is open at /tmp/x\n')).toBeUndefined()
})

test.each([
  ['another figure', shown, printed.replace('1.2633', '1.3'), 'shown and not printed: match_de0cd0e31c787f02'],
  ['another word', shown, printed.replace('east', 'west'), 'shown and not printed: match_de0cd0e31c787f02'],
  ['another kind of id', ['root-1x… is new'], 'ses_00ff is new', 'shown and not printed: root-1x… is new'],
  ['a missing line', ['a', '…', 'b'], 'a\nc\n', 'shown and not printed: b'],
  ['a line more', ['a'], 'a\nb\n', 'printed and not shown: b'],
  ['a line before', ['b'], 'a\nb\n', 'shown and not printed: b'],
])('disagrees for %s', (_, lines, output, fault) => {
  expect(findOutputFault(lines, output)).toContain(fault)
})
