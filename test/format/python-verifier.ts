// The Python script of docs/ as one process that judges many documents.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { whenPresent } from '../support/runner/requires.ts'
import type { DocumentRequest, DocumentVerdict } from './product-verdicts.ts'

const script = path.resolve(import.meta.dirname, '../../docs/verify_filedrop.py')

const interpreter = process.env.PYTHON_CRYPTOGRAPHY ?? ''
/** A test that runs the script; skipped, or failed in CI, without its interpreter. */
export const withPython = whenPresent({
  isPresent: interpreter !== '',
  name: 'Python with cryptography',
  hint: 'name the interpreter in PYTHON_CRYPTOGRAPHY (.ci/run installs it)',
})

/** The verdicts in the order of the requests. Throws when the script fails, with what it wrote. */
export async function judgeByPython(requests: readonly DocumentRequest[]): Promise<DocumentVerdict[]> {
  const child = spawn(interpreter, ['-B', script, '--lines'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const [out, err]: [string[], string[]] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  child.stdin.on('error', () => undefined)
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''))
  const exit = await ended
  if (exit !== 0) throw new Error(`the script ended with ${exit}: ${err.join('')}`)
  return out
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DocumentVerdict)
}
