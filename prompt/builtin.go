package prompt

// Builtin returns the prompts over data.
func Builtin() []Prompt {
	return []Prompt{conventions(), relations(), exploreDatabase(), classOverview(), countBy(), recentActivity(), findRelationship(), createdInRange(), reviewMyChanges()}
}

// class is the argument that names the class a prompt is about.
func class(name, description string) Argument {
	return Argument{Name: name, Description: description, Required: true, Complete: classNames}
}
