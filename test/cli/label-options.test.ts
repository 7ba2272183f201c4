// A command whose operation takes a label offers the options of a label: without them the object could never leave for a peer.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { everyOperation } from '../../daemon/every-role.ts'
import { listInputFields } from '../support/every-operation/send-operation.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const labelled = everyOperation
  .filter(({ operation }) => 'classification' in listInputFields(operation))
  .map(({ address }) => address)

const readCommand = (words: string) =>
  readFileSync(path.join(repositoryRoot, 'cli/commands', `${words.replaceAll(' ', '/')}.ts`), 'utf8')

const commands = Object.keys(commandCatalogue).filter((words) =>
  labelled.some((address) => readCommand(words).includes(`'${address}',`)),
)

test('there are such commands', () => {
  expect(commands).toEqual(expect.arrayContaining(['consensus create', 'resolve lens create', 'signal create']))
})

test.each(commands)('%s', async (words) => {
  const { options = {} } = (await commandCatalogue[words as keyof typeof commandCatalogue]()).definition
  expect(Object.keys(options)).toEqual(expect.arrayContaining(['classification', 'categories', 'releasableTo']))
})
