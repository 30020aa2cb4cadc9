/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	return cmd_main(argc, argv);
}
