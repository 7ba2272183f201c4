// The values of the chart for Kubernetes have the services of the routing table, and the version of this project.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parseYaml } from '../../adapters/host/yaml/yaml-document.ts'
import { product } from '../../adapters/platform/product/product.ts'
import { type RoutedService, routedServices } from '../../daemon/shared/routing/routed-services.ts'
import { environmentPrefix } from '../support/engines/cluster-tables.ts'

const services: readonly RoutedService[] = routedServices

function readChart(file: string): unknown {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/kubernetes', file), 'utf8')
  return (parseYaml(text) as { value: unknown }).value
}

test('services', () => {
  const table = services.map(({ role = '', ...service }) => ({
    ...service,
    role,
    env: role && environmentPrefix(role),
  }))
  expect(readChart('values.yaml')).toMatchObject({ services: table })
})

test('version', () => {
  expect(readChart('values.yaml')).toMatchObject({ image: `${product.name}:${product.version}` })
  expect(readChart('Chart.yaml')).toMatchObject({ appVersion: product.version })
})
