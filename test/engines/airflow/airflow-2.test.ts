// Airflow 2 as a workflow scheduler.
import { describeAirflow } from './airflow-suite.ts'

describeAirflow(2)
