// The check of DAG files in Python: compiled and imported in the sandbox, and rejected with reason and line.
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { linuxSandbox } from '../../adapters/sandbox/linux/linux-sandbox.ts'
import { openSandbox } from '../../adapters/sandbox/linux/open-sandbox.ts'
import { checkPython, findPython, pythonLimits } from '../../daemon/runtime/ingest/repository/check-python.ts'
import { whenPresent } from '../support/runner/requires.ts'

const python = findPython() ?? ''
const sandbox = await openSandbox(pythonLimits)
const where = whenPresent({
  isPresent: python !== '' && sandbox.isolation === 'namespaces',
  name: 'python3 and user namespaces',
  hint: sandbox.shortfalls.join('; '),
})

const rejected: readonly { readonly text: string; readonly reason: RegExp; readonly line?: number }[] = [
  { text: 'import os\n\ndef f(:\n  pass\n', reason: /^SyntaxError: /, line: 3 },
  { text: 'import os\n\nx = 1\n  y = 2\n', reason: /^IndentationError: /, line: 4 },
  { text: 'x = 1\n\n\ny = x / 0\n', reason: /^ZeroDivisionError: division by zero$/, line: 4 },
  { text: 'def f():\n  return missing\n\nf()\n', reason: /^NameError: /, line: 2 },
  { text: 'import sys\nsys.exit("\\u001b[31mred")\n', reason: /^SystemExit: \\u001b\[31mred$/, line: 2 },
  { text: 'x = []\nwhile True: x.append(" " * 10_000_000)\n', reason: /^MemoryError|limit memory_bytes|SIGKILL/ },
]

where.each(rejected)('$text is rejected', async ({ text, reason, line }) => {
  const check = await checkPython(text, python, sandbox)
  expect(check).toMatchObject({ state: 'rejected', reason: expect.stringMatching(reason) })
  if (line !== undefined) expect(check).toMatchObject({ line })
})

where('a DAG passes whose packages are on the workers alone', async () => {
  const text = 'from airflow_of_workers import DAG\nraise ValueError("never reached")\n'
  expect(await checkPython(text, python, sandbox)).toEqual({ state: 'passed' })
  expect(await checkPython('print("{}")\nx = 1', python, sandbox)).toEqual({ state: 'passed' })
})

where('an import reaches no file and no network of the site', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  try {
    const dial = `import socket\nsocket.create_connection(("127.0.0.1", ${port}), 5)\n`
    expect(await checkPython(dial, python, sandbox)).toMatchObject({ state: 'rejected', line: 2 })
    const read = `open("${import.meta.filename}")\n`
    expect(await checkPython(read, python, sandbox)).toMatchObject({
      state: 'rejected',
      reason: expect.stringMatching(/^FileNotFoundError/),
    })
  } finally {
    server.close()
  }
})

test.runIf(python !== '')('where the sandbox keeps only limits, a DAG is compiled and not run', async () => {
  const weak = linuxSandbox({ isolation: 'limits' })
  const mark = `/tmp/never-imported-${process.pid}`
  expect(await checkPython(`open("${mark}", "w")\n`, python, weak)).toEqual({ state: 'passed' })
  expect(existsSync(mark)).toBe(false)
  rmSync(mark, { force: true })
  expect(await checkPython('def f(:\n', python, weak)).toMatchObject({ state: 'rejected', line: 1 })
})
