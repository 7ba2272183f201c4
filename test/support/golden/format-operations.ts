// Every operation on one line: the reviewer's map, and the diff that shows what a change adds.
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'

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
  const { method, path, also = [], tool = '-', allow } = operation
  const marks = [
    operation.creates && 'creates',
    operation.versioned && 'versioned',
    operation.streams && 'streams',
    operation.inside && 'inside',
  ].filter(Boolean)
  return [address, method, [path, ...also].join(' '), tool, allow, marks.join(' ')]
}
