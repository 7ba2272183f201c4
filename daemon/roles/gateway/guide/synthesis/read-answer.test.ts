// Answers of a model: what is used of them, and what is not.
import { expect, test } from 'vitest'
import { type AnswerScope, answerLists, describeAnswer, max_changes } from './model-answer.ts'
import { readAnswer } from './read-answer.ts'

const pairing = {
  type: 'ToolPairingHint',
  content: { tool: 'maps/find', next_tool: 'maps/show', hint: 'find first' },
  rationale: 'show needs an id',
}
const answer = { confidence: 0.8, reply: 'one pair', proposals: [pairing] }
const empty = Object.fromEntries(answerLists.map((list) => [list, []]))

test.each([
  ['alone', (json: string) => json],
  ['in a fence', (json: string) => `\`\`\`json\n${json}\n\`\`\`\n`],
  ['in a fence without a language', (json: string) => `\`\`\`\n${json}\n\`\`\``],
  ['between words', (json: string) => `Here is what I found:\n${json}\nI hope that it helps.`],
])('JSON %s is read', (_, wrap) => {
  expect(readAnswer(wrap(JSON.stringify(answer)))).toEqual({ ...empty, ...answer, left_out: 0 })
})

test.each([
  [0.3, 0.3],
  [7, 1],
  [-1, 0],
  ['0.9', 0.9],
  ['high', 0.5],
  [null, 0.5],
  [{}, 0.5],
  [undefined, 0.5],
])('a confidence of %j counts as %d', (confidence, counted) => {
  expect(readAnswer(JSON.stringify({ confidence }))?.confidence).toBe(counted)
})

test.each([
  '',
  'promote everything',
  '[]',
  '42',
  '{"confidence": 1',
  '}{',
  'null',
  '{"proposals": "all"}',
  '{"a":1,"a":2}',
])('%j is not an answer', (text) => {
  expect(readAnswer(text)).toBeUndefined()
})

test('an answer with too many changes is refused as a whole', () => {
  const promotions = Array.from({ length: max_changes + 1 }, (_, at) => ({ artifact_id: `a${at}`, rationale: 'r' }))
  expect(readAnswer(JSON.stringify({ promotions }))).toBeUndefined()
  expect(readAnswer(JSON.stringify({ promotions: promotions.slice(1) }))?.promotions).toHaveLength(max_changes)
})

test('entries that are not of their schema are left out, and the others are used', () => {
  const proposals = [
    pairing,
    { ...pairing, type: 'DriftEvent' },
    { ...pairing, content: { ...pairing.content, evaluator_score: 1 } },
    { ...pairing, content: { ...pairing.content, hint: 'x'.repeat(241) } },
  ]
  const read = readAnswer(
    JSON.stringify({ proposals, promotions: null, reviews: [{ artifact_id: 'a', verdict: 'x' }] }),
  )
  expect(read).toMatchObject({ proposals: [pairing], promotions: [], reviews: [], left_out: 4 })
})

test('a reply is cut, and is empty where it is not a text', () => {
  expect(readAnswer(JSON.stringify({ reply: 'y'.repeat(9_000) }))?.reply).toHaveLength(4_000)
  expect(readAnswer(JSON.stringify({ reply: ['a'] }))?.reply).toBe('')
})

test('an endpoint is requested for what the data offers, and not for what could only be refused', () => {
  const listsOf = (scope: Partial<AnswerScope>) => {
    const { schema } = describeAnswer({
      artifact_ids: [],
      hasFlagged: false,
      hasCalls: false,
      hasEdges: false,
      ...scope,
    })
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] }
    expect(required).toEqual(['confidence', 'reply'])
    return Object.keys(properties).filter((name) => name !== 'confidence' && name !== 'reply')
  }
  expect(listsOf({})).toEqual(['proposals'])
  expect(listsOf({ hasCalls: true, hasEdges: true })).toEqual(['proposals', 'compactions', 'drift_flags'])
  const all = { artifact_ids: ['a', 'b'], hasFlagged: true, hasCalls: true, hasEdges: true }
  expect(listsOf(all).toSorted()).toEqual(answerLists.toSorted())
  expect(JSON.stringify(describeAnswer(all))).toContain('"enum":["a","b"]')
})
