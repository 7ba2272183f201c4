// Checks a DAG file in Python in the sandbox: it is compiled, and imported where the sandbox keeps it from the files and network of
// the site. A machine without Python leaves the check to Airflow.
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import type { Sandbox, SandboxLimits, SandboxResult } from '../../../kernel/sandbox/sandbox.ts'
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import type { DagCheck } from '../../../shared/dag-repository/dag-repository.ts'
import { python_check } from './python-check.ts'

export const pythonLimits: SandboxLimits = {
  ...{ time_ms: 60_000, cpu_s: 30, memory_bytes: 2 ** 30, disk_bytes: 2 ** 24 },
  ...{ output_bytes: 2 ** 20, processes: 16, open_files: 128 },
}

const programs = ['/usr/bin/python3', '/usr/local/bin/python3']
const checkAnswer = z.object({ reason: z.string().max(1_000), line: z.int().min(1).nullable() })

export function findPython(): string | undefined {
  return programs.find((program) => {
    try {
      accessSync(program, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export async function checkPython(text: string, program: string, sandbox: Sandbox): Promise<DagCheck> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-dag-'))
  try {
    const file = join(folder, 'dag.py')
    await writeFile(file, text, { mode: 0o600 })
    // With the limits alone, code of a DAG has the files of the service.
    const mode = sandbox.isolation === 'namespaces' ? 'import' : 'compile'
    const result = await sandbox.run({
      program,
      args: ['-I', '-B', '-c', python_check, { input: 'dag.py' }, mode],
      ...{ inputs: { 'dag.py': file }, visible: [], limits: pythonLimits },
    })
    return readResult(result)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function readResult(result: SandboxResult): DagCheck {
  switch (result.kind) {
    case 'exited': {
      const last = Buffer.from(result.stdout).toString().trimEnd().split('\n').at(-1) ?? ''
      const answer = parseJsonAs(checkAnswer, last)
      if (!answer) return { state: 'rejected', reason: `Python ended with exit code ${result.code}` }
      const { reason, line } = answer
      if (reason === '') return { state: 'passed' }
      return { state: 'rejected', reason: escapeLine(reason), ...(line === null ? {} : { line }) }
    }
    case 'signalled':
      return { state: 'rejected', reason: `its import was ended by ${result.signal}` }
    case 'exceeded':
      return { state: 'rejected', reason: `its import exceeds the limit ${result.limit}` }
    case 'cancelled':
      throw refuse('unavailable', 'the check of the DAG was stopped')
    case 'not_started':
      throw refuse('unavailable', 'the check of the DAG cannot be run in a sandbox on this machine')
  }
}
