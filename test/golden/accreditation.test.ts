// The accreditation pack is that of the code.
import { expect, test } from 'vitest'
import { listSettingsBlocks } from '../../daemon/boot/profile.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { messageKinds } from '../../daemon/message-kinds.ts'
import { findAlgorithmUses, findUnlistedUses } from '../support/accreditation/algorithms.ts'
import { findWrittenActions, listChanges } from '../support/accreditation/audit-events.ts'
import { listCreatedFiles } from '../support/accreditation/created-files.ts'
import { outboundClients } from '../support/accreditation/outbound-clients.ts'
import { createScratchFolder, runJsonCommand } from '../support/command/run-command.ts'
import { expectGolden } from '../support/golden/expect-golden.ts'
import { formatAccreditation } from '../support/golden/format-accreditation.ts'
import { readSource } from '../support/repository/source-tree.ts'

test('every file that selects an algorithm is listed', () => expect(findUnlistedUses()).toEqual([]))

test('accreditation pack', async () => {
  const scratch = createScratchFolder('accreditation')
  await runJsonCommand(['init', '--site', scratch.dir, '--tenant', 'acme', '--yes'])
  const files = listCreatedFiles(scratch.dir)
  scratch.remove()
  expectGolden(
    'docs/accreditation.md',
    formatAccreditation({
      roles: everyRole,
      blocks: listSettingsBlocks(everyRole),
      operations: everyRole.flatMap(operationsOf),
      messages: messageKinds,
      outbound: outboundClients,
      purposeOf: (file) => /^\/\/ (.+)$/m.exec(readSource(file).text)?.[1] ?? '',
      algorithms: findAlgorithmUses(),
      files,
      changes: listChanges(everyRole.flatMap(operationsOf)),
      actions: findWrittenActions(),
    }),
  )
})
