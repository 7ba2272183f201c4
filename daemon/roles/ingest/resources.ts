// Resources of this role that MCP clients read by URI.
import type { McpResourceDeclaration } from '../../kernel/api/mcp-resources.ts'
import { template } from './datapipeline/template.ts'
import { operator } from './effect/operator.ts'
import { operators } from './effect/operators.ts'
import { list as operatorList } from './operator/list.ts'
import { capabilities } from './workflow/capabilities.ts'

export const resources: readonly McpResourceDeclaration[] = [
  {
    uri: 'catalog://operators',
    name: 'Operators',
    description: 'Operators of the catalog with the schemas of their parameters, and templates of DAGs',
    operation: operatorList,
  },
  {
    uri: 'templates://dags/{dag_type}',
    fields: { dag_type: 'template_name' },
    name: 'Template of a DAG',
    description: 'JSON Schema of the content of a pipeline of a type',
    operation: template,
  },
  {
    uri: 'catalog://effects',
    name: 'Operators of effects',
    description: 'Operators of which effects consist',
    operation: operators,
  },
  {
    uri: 'templates://effects/{operator}',
    fields: { operator: 'operator_name' },
    name: 'Operator of effects',
    description: 'JSON Schemas of the parameters of one operator',
    operation: operator,
  },
  {
    uri: 'capabilities://workflow',
    name: 'Capabilities of workers',
    description: 'Packages, operators and types of connections that workers have',
    operation: capabilities,
  },
]
