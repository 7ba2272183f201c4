// The MCP client against the official library's server and against our own, in each revision.
import { describe, onTestFinished, test } from 'vitest'
import { addressRule } from '../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../adapters/tools/mcp/connect-tools.ts'
import { startLibraryService } from '../support/mcp/library-service.ts'
import { startOwnToolService } from '../support/mcp/own-tool-service.ts'
import { toolServiceRequirements } from './tool-service.ts'

const limits = { answer_ms: 5_000, answer_bytes: 1_048_576, depth: 64, tools: 100 }
const rule = addressRule(['127.0.0.0/8'])
const servers = { 'the library’s server': startLibraryService, 'our own server': startOwnToolService }

describe.each(Object.entries(servers))('%s', (_, start) => {
  describe.each(['2026-07-28', '2025-11-25', '2025-06-18'])('%s', (revision) => {
    test.each(Object.entries(toolServiceRequirements))('%s', async (_, keep) => {
      const service = await start(revision)
      onTestFinished(() => service.close().catch(() => undefined))
      await keep({
        revision,
        service,
        services: mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule }),
      })
    })
  })
})
