// The argument that starts the program as the process of a role's user.

/** Not a command for people: it is not among those that the help lists. */
export const role_task_argument = 'role-task'
