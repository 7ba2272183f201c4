// Every operation on one line: the reviewer's map, and the diff that shows what a change adds.
import { type AddressedOperation, isInside, listPaths } from '../../../daemon/kernel/operation/operation.ts'

const columns = ['address', 'method', 'path', 'tool', 'permission', 'marks'] as const

export function formatOperations(operations: readonly AddressedOperation[]): string {
  const rows = [columns, ...operations.map(formatRow)]
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

function formatRow({ address, operation }: AddressedOperation): readonly string[] {
  const { tool = '-', allow, surface } = operation
  const paths = listPaths(operation)
  const method = paths.length === 0 ? '-' : operation.method
  const marks = [
    operation.creates && 'creates',
    operation.versioned && 'versioned',
    operation.streams && 'streams',
    operation.time_limit_ms !== undefined && `${operation.time_limit_ms / 1_000} s`,
    isInside(operation) && 'inside',
    surface && `on ${surface} alone`,
  ].filter(Boolean)
  return [address, method, paths.join(' ') || '-', tool, allow, marks.join(' ')]
}
