// The check of a DAG file by the site itself, in place of the CI of a git host.
import { openCommandSandbox } from '../../../boot/host/command-sandbox.ts'
import type { Sandbox } from '../../../kernel/sandbox/sandbox.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { checkDagText } from '../../../roles/ingest/managed-dag/check-dag-text.ts'
import type { DagCheck, DagFile } from '../../../shared/dag-repository/dag-repository.ts'
import { checkPython, findPython, pythonLimits } from './check-python.ts'

type DagFileCheck = (file: Omit<DagFile, 'uid'>) => Promise<DagCheck>

/** The sandbox is opened for the first file in Python. */
export function dagFileCheck(log: Log): DagFileCheck {
  let opened: Promise<Sandbox> | undefined
  return async ({ name, text }) => {
    if (!name.endsWith('.py')) return checkAssembledDag(text)
    const python = findPython()
    if (python === undefined) return { state: 'passed' }
    opened ??= openCommandSandbox(log, pythonLimits)
    return await checkPython(text, python, await opened)
  }
}

function checkAssembledDag(text: string): DagCheck {
  const checked = checkDagText(text)
  if (!('fault' in checked)) return { state: 'passed' }
  const { reason, path, line } = checked.fault
  return {
    state: 'rejected',
    reason,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
  }
}
