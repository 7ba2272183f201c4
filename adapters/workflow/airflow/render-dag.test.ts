// No content of a DAG becomes code of Python: hostile texts change one literal of the file, and nothing else.
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assembledDag } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import { requires } from '../../../test/support/runner/requires.ts'
import { pythonLiteral, type RenderedDag, renderDag, renderPython } from './render-dag.ts'
import { renderScheduler } from './scheduler-dag.ts'

function rendered(text: string, more: Partial<RenderedDag> = {}): RenderedDag {
  const params = { file: text, [text.slice(0, 200)]: [text, { deep: text }] }
  return {
    ...{ airflow_id: 'people.pl_1', tenant_id: text, pipeline: 'pl_1', version: 'v-1' },
    command: ['/opt/platform', 'ingest', 'step', '-', '--folder', text],
    dag: assembledDag.parse({
      ...{ format: 1, dag_id: 'people' },
      tasks: [
        { name: 'out', operator: 'write', params, after: ['read'] },
        { name: 'read', operator: 'ingest_file', params },
      ],
    }),
    ...more,
  }
}

const hostile = [
  '"); __import__("os").system("touch /tmp/owned") #',
  "'; import os; os.system('id') #",
  '"""\nimport os\n"""',
  "'''\nimport os\n'''",
  '\\"); import os #',
  '\\',
  '\\\\"',
  '\\N{QUOTATION MARK})',
  '\\x22); import os #',
  '\\u0022); import os #',
  'line\r\nimport os\n\u2028import os\u2029\u0085import os\f\v',
  '{{ config }}{% import os %}{# x #}',
  '$ @SPECIFICATION@ $& $1 $`',
  '%s %(x)s {0} {x!r}',
  '\0\u0001\u001b[2J',
  '\ud800 lone, \u{1f600} pair',
  '# -*- coding: utf-7 -*-\n+AG8-',
  '<?xml version="1.0"?>',
]

/** Prints the file without its literal as a tree, and what the literal holds. */
const judge = `
import ast, json, sys
found = []
for text in json.load(sys.stdin):
    tree = ast.parse(text)
    held = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "json.loads" and isinstance(node.args[0], ast.Constant)]
    assert len(held) == 1, "one literal"
    value = held[0].args[0].value
    held[0].args[0] = ast.Constant(None)
    found.append([ast.dump(tree), value])
json.dump(found, sys.stdout)
`
function judgeFiles(files: readonly string[]): [tree: string, literal: string][] {
  const answer = execFileSync('python3', ['-c', judge], { input: JSON.stringify(files), maxBuffer: 1 << 28 })
  return JSON.parse(answer.toString())
}

const testWithPython = requires('python3')

describe('a rendered DAG', () => {
  testWithPython('has the same code whatever the DAG holds, and holds what the DAG says', () => {
    const cases = hostile.map((text) => rendered(text))
    const [first, ...others] = judgeFiles([rendered('plain'), ...cases].map(renderDag))
    for (const [at, [tree, literal]] of others.entries()) {
      expect(tree).toBe(first?.[0])
      const { dag, ...more } = cases[at] as RenderedDag
      expect(JSON.parse(literal)).toEqual({ ...more, tasks: dag.tasks.toReversed() })
    }
  })

  testWithPython('of any text is one literal, which Python reads back', () => {
    const texts: string[] = []
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        texts.push(text)
        const literal = pythonLiteral(JSON.stringify({ text }))
        expect(literal).toMatch(/^"[ -~]*"$/)
      }),
    )
    const files = texts.map((text) => `import json\nx = json.loads(${pythonLiteral(JSON.stringify({ text }))})\n`)
    const read = judgeFiles(files).map(([, literal]) => JSON.parse(literal).text)
    expect(read).toEqual(texts)
  })

  testWithPython('in Python is one literal too, whatever the text is', () => {
    const of = (text: string) => renderPython({ airflow_id: 'a.pl_1', dag_id: 'a', version: 'v-1', text })
    const [first, ...others] = judgeFiles(['plain', ...hostile].map(of))
    for (const [at, [tree, literal]] of others.entries()) {
      expect(tree).toBe(first?.[0])
      expect(JSON.parse(literal).text).toBe(hostile[at])
    }
  })

  test('is the same for the same DAG, with tasks after those that they wait for', () => {
    const text = renderDag(rendered('a.csv'))
    expect(renderDag(rendered('a.csv'))).toBe(text)
    expect(text.indexOf('\\"name\\":\\"read\\"')).toBeLessThan(text.indexOf('\\"name\\":\\"out\\"'))
    expect(text).not.toMatch(/[^\n -~]/)
  })

  testWithPython('of the scheduler has the same code for each site, and ticks at the times of schedules', () => {
    const of = (interval_minutes: number, site = 'alpha') =>
      renderScheduler({ site, interval_minutes, command: ['/opt/platform', 'ingest', 'tick', site] })
    const intervals = [30, 1, 60, 1_440, 360, 45, 7]
    const [bravo, ...judged] = judgeFiles([of(30, 'bravo'), ...intervals.map((minutes) => of(minutes))])
    for (const [tree] of judged) expect(tree).toBe(bravo?.[0])
    const literals = judged.map(([, literal]) => JSON.parse(literal))
    expect(literals.map(({ schedule }) => schedule)).toEqual([
      ...['*/30 * * * *', '*/1 * * * *', '0 * * * *', '0 0 * * *', '0 */6 * * *', 45, 7],
    ])
    expect(literals[0]).toMatchObject({ dag_id: 'platform_scheduler__alpha', version: expect.stringMatching(/^v-/) })
    expect(new Set(literals.map(({ version }) => version)).size).toBe(intervals.length)
    expect(JSON.parse(bravo?.[1] ?? '')).toMatchObject({ dag_id: 'platform_scheduler__bravo' })
  })
})
