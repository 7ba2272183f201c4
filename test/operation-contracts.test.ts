// Every contract in `daemon/shared` is served at its address, from the same input, and reads only what is answered.
import path from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { everyOperation } from '../daemon/every-role.ts'
import type { OperationContract } from '../daemon/kernel/operation/operation-contract.ts'
import { listRepositoryFiles, repositoryRoot } from './support/repository/source-tree.ts'

const files = listRepositoryFiles().filter((file) => /^daemon\/shared\/.+(?<!\.test)\.ts$/.test(file))
const exported = await Promise.all(files.map((file) => import(path.join(repositoryRoot, file))))
const contracts = exported.flatMap((module) => Object.values<OperationContract>(module)).filter(isContract)

function isContract(value: unknown): value is OperationContract {
  return typeof value === 'object' && value !== null && 'address' in value && 'input' in value && 'output' in value
}

/** Paths of the fields that the contract requires and the operation does not always answer. */
function findMissingFields(read: unknown, answered: unknown, at: string): string[] {
  if (read instanceof z.ZodArray && answered instanceof z.ZodArray)
    return findMissingFields(read.element, answered.element, `${at}[]`)
  if (!(read instanceof z.ZodObject && answered instanceof z.ZodObject)) return []
  return Object.entries(read.shape).flatMap(([name, field]) => {
    const found: unknown = answered.shape[name]
    if (found === undefined || (found instanceof z.ZodOptional && !(field instanceof z.ZodOptional)))
      return [`${at}.${name}`]
    return findMissingFields(field, found, `${at}.${name}`)
  })
}

test('there are contracts', () => expect(contracts.length).toBeGreaterThan(8))

test.each(contracts.map((contract) => [contract.address, contract] as const))('%s', (address, contract) => {
  const operation = everyOperation.find((each) => each.address === address)?.operation
  expect(operation, 'no role serves it').toBeDefined()
  expect(operation?.input).toBe(contract.input)
  expect(findMissingFields(contract.output, operation?.output, address)).toEqual([])
})
